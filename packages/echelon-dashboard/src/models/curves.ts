/** A point of the API's chart. */
interface Point {
  attempt: number;
  from: number;
  to: number;
  count: number;
  min: number | null;
  max: number | null;
  mean: number | null;
}

/** Columns as the chart draws them: the steps, then for each series its means, maxima and minima. */
export interface CurveData {
  series: { name: string; values: number }[];
  columns: (number | null)[][];
}

/**
 * Series on common steps. A step that a later attempt repeats has the values of the later one. `values` is the number of
 * recorded values in a series: more than its points if the server reduced them.
 */
export function curvesOf(series: readonly { name: string; points: readonly Point[] }[]): CurveData {
  const steps = [...new Set(series.flatMap(({ points }) => points.map(stepOf)))].sort((a, b) => a - b);
  const index = new Map(steps.map((step, at) => [step, at]));
  const columns: (number | null)[][] = [steps];
  for (const { points } of series) {
    const [mean, max, min] = [0, 1, 2].map(() => new Array<number | null>(steps.length).fill(null));
    for (const point of points) {
      const at = index.get(stepOf(point))!;
      mean![at] = point.mean;
      max![at] = point.max;
      min![at] = point.min;
    }
    columns.push(mean!, max!, min!);
  }
  return {
    series: series.map(({ name, points }) => ({
      name,
      values: points.reduce((sum, { count }) => sum + count, 0),
    })),
    columns,
  };
}

const stepOf = ({ from, to }: Point): number => (from + to) / 2;

/** What a chart leaves away, in words; undefined if it shows every value. */
export function reductionOf({ series, columns }: CurveData): string | undefined {
  const points = columns[0]?.length ?? 0;
  const values = Math.max(0, ...series.map((one) => one.values));
  if (values <= points) return undefined;
  const say = (n: number) => n.toLocaleString('en-US');
  return `${say(points)} of ${say(values)} points: the mean, with the range between minimum and maximum`;
}

/** Metrics that tell most of a training, most telling first. */
const TELLING = [
  /success/,
  /reward\/mean|score\/mean/,
  /pg_loss|policy_loss/,
  /kl/,
  /entropy/,
  /grad_norm/,
  /advantages\/mean/,
];

/** The metrics to show if none are chosen. */
export function chooseMetrics(names: readonly string[], limit = 4): string[] {
  const chosen: string[] = [];
  for (const pattern of TELLING) {
    const found = names.find((name) => pattern.test(name) && !chosen.includes(name));
    if (found !== undefined) chosen.push(found);
  }
  return [...chosen, ...names.filter((name) => !chosen.includes(name))].slice(0, limit);
}
