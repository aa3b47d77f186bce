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

/**
 * Means with the limits of their 95 % intervals on common steps; a mean without an interval is its own limit. `nameOf`: a
 * combination in words.
 */
export function bandsOf(
  items: readonly Combination[],
  nameOf: (values: Combination['values']) => string,
): CurveData {
  return {
    series: items.map(({ values, points, curves, children }) => ({
      name: `${nameOf(values)} · ${curves} of ${counted(children, 'child', 'children')}`,
      values: points.length,
    })),
    columns: columnsOf(items, ({ mean, interval }) => [mean, interval?.high ?? mean, interval?.low ?? mean]),
  };
}

/**
 * The means of each series as an exponential moving average without bias at its start; `weight` of the past, from 0 to 1. The
 * range of the points stays.
 */
export function smoothed(data: CurveData, weight: number): CurveData {
  if (!(weight > 0 && weight < 1)) return data;
  const columns = data.columns.map((column, at) => (at % 3 === 1 ? averageOf(column, weight) : column));
  return { ...data, columns };
}

function averageOf(values: readonly (number | null)[], weight: number): (number | null)[] {
  let [average, share] = [0, 0];
  return values.map((value) => {
    if (value === null || !Number.isFinite(value)) return value;
    average = weight * average + (1 - weight) * value;
    share = weight * share + (1 - weight);
    return average / share;
  });
}

/** The data as CSV: a line for each step, and for each series its mean, maximum and minimum. */
export function csvOf({ series, columns }: CurveData): string {
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const heads = series.flatMap(({ name }) => [name, `${name} max`, `${name} min`]);
  const [steps = []] = columns;
  const lines = steps.map((_step, at) => columns.map((column) => column[at] ?? '').join(','));
  return `${[['step', ...heads.map(quoted)].join(','), ...lines].join('\n')}\n`;
}

/** Names that a text finds: as a regular expression if it is one, else as a part. */
export function namesLike(names: readonly string[], text: string): string[] {
  try {
    const pattern = new RegExp(text, 'i');
    return names.filter((name) => pattern.test(name));
  } catch {
    return names.filter((name) => name.includes(text));
  }
}
