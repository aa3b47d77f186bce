import { counted } from 'echelon-verify/text/plural';

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
  return {
    series: series.map(({ name, points }) => ({
      name,
      values: points.reduce((sum, { count }) => sum + count, 0),
    })),
    columns: columnsOf(series, ({ mean, max, min }) => [mean, max, min]),
  };
}

/** The steps of all series, and then three columns for each: its mean and what is above and below it. */
function columnsOf<P extends { from: number; to: number }>(
  series: readonly { points: readonly P[] }[],
  valuesOf: (point: P) => [mean: number | null, high: number | null, low: number | null],
): (number | null)[][] {
  const stepOf = ({ from, to }: P) => (from + to) / 2;
  const steps = [...new Set(series.flatMap(({ points }) => points.map(stepOf)))].sort((a, b) => a - b);
  const columns = series.flatMap(({ points }) => {
    const byStep = new Map(points.map((point) => [stepOf(point), valuesOf(point)]));
    return [0, 1, 2].map((at) => steps.map((step) => byStep.get(step)?.[at] ?? null));
  });
  return [steps, ...columns];
}

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

/** A combination of a sweep as the API aggregates it over seeds. */
interface Combination {
  values: Record<string, unknown>;
  children: number;
  curves: number;
  points: readonly {
    from: number;
    to: number;
    n: number;
    mean: number | null;
    interval: { low: number; high: number } | null;
  }[];
}

/** The field of a JSON pointer, as specs name it: `replay.batches`. */
export const fieldOf = (pointer: string): string => pointer.slice(1).replaceAll('/', '.');

/** The values of a combination in words: `replay.batches=12 replay.fault=none`. */
export function combinationName(values: Record<string, unknown>): string {
  const words = Object.entries(values).map(
    ([axis, value]) => `${fieldOf(axis)}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return words.length === 0 ? 'all children' : words.join(' ');
}

/** Means with the limits of their 95 % intervals on common steps; a mean without an interval is its own limit. */
export function bandsOf(items: readonly Combination[]): CurveData {
  return {
    series: items.map(({ values, points, curves, children }) => ({
      name: `${combinationName(values)} · ${curves} of ${counted(children, 'child', 'children')}`,
      values: points.length,
    })),
    columns: columnsOf(items, ({ mean, interval }) => [mean, interval?.high ?? mean, interval?.low ?? mean]),
  };
}
