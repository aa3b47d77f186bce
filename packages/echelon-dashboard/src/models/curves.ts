import { counted } from 'command-kit/plural';
import { csvLine } from 'echelon-client/csv';

/** A point of the API's chart. */
interface Point {
  attempt: number;
  from: number;
  to: number;
  count: number;
  min: number | null;
  max: number | null;
  mean: number | null;
  at: number | null;
}

/** What a chart is drawn over: steps, the time (s since 1970), or the hours since the first point of its run. */
export type Axis = 'step' | 'time' | 'hours';

/** Columns as the chart draws them: the axis, then for each series its means, maxima and minima. */
export interface CurveData {
  axis: Axis;
  series: { name: string; values: number }[];
  columns: (number | null)[][];
}

/** Where a point is on the axis; `start` (ms): of its run. */
function placeOf({ from, to, at }: Point, axis: Axis, start: number): number | null {
  if (axis === 'step') return (from + to) / 2;
  if (at === null) return null;
  return axis === 'time' ? at / 1000 : (at - start) / 3.6e6;
}

const startOf = (points: readonly Point[]) => Math.min(...points.flatMap(({ at }) => at ?? []));

/**
 * Series on common steps or times. A step that a later attempt repeats has the values of the later one. `values` is the number of
 * recorded values in a series: more than its points if the server reduced them.
 */
export function curvesOf(
  series: readonly { name: string; points: readonly Point[] }[],
  axis: Axis = 'step',
): CurveData {
  const placed = series.map(({ points }) => {
    const start = startOf(points);
    return points.flatMap((point) => {
      const x = placeOf(point, axis, start);
      return x === null ? [] : [{ ...point, x }];
    });
  });
  return {
    axis,
    series: series.map(({ name, points }) => ({
      name,
      values: points.reduce((sum, { count }) => sum + count, 0),
    })),
    columns: columnsOf(placed, ({ mean, max, min }) => [mean, max, min]),
  };
}

/** The places of all series on the axis, and then three columns for each: its mean and what is above and below it. */
function columnsOf<P extends { x: number }>(
  series: readonly (readonly P[])[],
  valuesOf: (point: P) => [mean: number | null, high: number | null, low: number | null],
): (number | null)[][] {
  const steps = [...new Set(series.flatMap((points) => points.map(({ x }) => x)))].sort((a, b) => a - b);
  const columns = series.flatMap((points) => {
    const byStep = new Map(points.map((point) => [point.x, valuesOf(point)]));
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

/** Metrics as options of a list: those of the nodes of a training are a group of their own, after all others. */
export function grouped(names: readonly string[]): { value: string; label: string; group?: string }[] {
  const options = names.map((name) => ({
    value: name,
    label: name,
    ...(name.startsWith('system/') && { group: 'Nodes of the training' }),
  }));
  return options.toSorted((a, b) => Number(a.group !== undefined) - Number(b.group !== undefined));
}

/** The metrics to show if none are chosen. */
export function chooseMetrics(names: readonly string[], limit = 4): string[] {
  const chosen: string[] = [];
  for (const pattern of TELLING) {
    const found = names.find((name) => pattern.test(name) && !chosen.includes(name));
    if (found !== undefined) chosen.push(found);
  }
  const others = grouped(names.filter((name) => !chosen.includes(name)));
  return [...chosen, ...others.map(({ value }) => value)].slice(0, limit);
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
  const placed = items.map(({ points }) =>
    points.map((point) => ({ ...point, x: (point.from + point.to) / 2 })),
  );
  return {
    axis: 'step',
    series: items.map(({ values, points, curves, children }) => ({
      name: `${nameOf(values)} · ${curves} of ${counted(children, 'child', 'children')}`,
      values: points.length,
    })),
    columns: columnsOf(placed, ({ mean, interval }) => [mean, interval?.high ?? mean, interval?.low ?? mean]),
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

/** The data as CSV: a line for each step or time, and for each series its mean, maximum and minimum. */
export function csvOf({ axis, series, columns }: CurveData): string {
  const heads = series.flatMap(({ name }) => [name, `${name} max`, `${name} min`]);
  const [places = []] = columns;
  const rows = places.map((x, at) => [
    placeText(x, axis),
    ...columns.slice(1).map((column) => column[at] ?? null),
  ]);
  return `${[[axis, ...heads], ...rows].map(csvLine).join('\n')}\n`;
}

/** A place on the axis as text: a time in ISO 8601. */
export const placeText = (x: number | null | undefined, axis: Axis): string | number =>
  axis === 'time' ? new Date((x ?? 0) * 1000).toISOString() : (x ?? '');

/** Names that a text finds: as a regular expression if it is one, else as a part. */
export function namesLike(names: readonly string[], text: string): string[] {
  try {
    const pattern = new RegExp(text, 'i');
    return names.filter((name) => pattern.test(name));
  } catch {
    return names.filter((name) => name.includes(text));
  }
}
