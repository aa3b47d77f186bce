/** The page docs/evidence/dashboard.md. */
import { machine, markdownTable, quantile, today } from './harness.ts';

/** Something measured; `budget` is the largest median that is allowed, null: there is none. */
export interface Figure {
  what: string;
  unit: string;
  budget: number | null;
  values: number[];
}

/** The page, and whether every figure is within its budget. */
export function dashboardPage(
  figures: readonly Figure[],
  chromium: string,
): { text: string; isWithin: boolean } {
  const isGood = ({ budget, values }: Figure) => budget === null || quantile(values, 0.5) <= budget;
  const say = (x: number) => String(Number(x.toPrecision(3)));
  const lines = figures.map((figure) => {
    const { what, unit, budget, values } = figure;
    const spread = values.length > 1 ? ` (${say(Math.min(...values))} to ${say(Math.max(...values))})` : '';
    const limit =
      budget === null ? '–' : `${budget}${unit && ` ${unit}`}${isGood(figure) ? '' : ', **missed**'}`;
    return [what, `${say(quantile(values, 0.5))}${unit && ` ${unit}`}${spread}`, limit];
  });
  const text = `# What the dashboard costs

Headless Chromium ${chromium} against an api in a process of its own and a Redis with 10,000 experiments, on one machine.
Each figure is the median, with the least and the most of its rounds. Times are by the wall clock.

${markdownTable(['what', 'measured', 'budget'], lines)}

The training of 100,000 steps is shown with 500 points a metric: the mean, and the range from minimum to maximum. A selected range loads
its own 500 points, so that a range of up to 500 steps shows every value.

Made on ${today()} with \`npm run bench -- dashboard --write\` on ${machine()}; other programs ran beside it.
`;
  return { text, isWithin: figures.every(isGood) };
}
