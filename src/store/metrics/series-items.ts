import type { MetricValue } from '../../core/events.ts';
import { toValue } from './metric-entries.ts';

/** Consecutive points of a series as one; with `count` 1, a recorded point. */
export interface SeriesPoint {
  attempt: number;
  /** First and last step. */
  from: number;
  to: number;
  /** When the last of its values was recorded (ms); null if it was recorded without a time. */
  at: number | null;
  /** Number of points, including those that are no finite numbers. */
  count: number;
  first: MetricValue;
  last: MetricValue;
  /** Of its finite values; null if there is none. */
  min: number | null;
  max: number | null;
  mean: number | null;
  /** Number of points that are NaN, and that are infinite. */
  nan: number;
  infinite: number;
}

/** A point, or consecutive points of one attempt as one; minimum, maximum and mean of the finite ones. */
export interface Item {
  from: number;
  to: number;
  first: number;
  last: number;
  min: number;
  max: number;
  mean: number;
  count: number;
  nan: number;
  infinite: number;
}

/** A recorded value as an item. */
export function pointOf(step: number, value: number): Item {
  const finite = Number.isFinite(value) ? value : 0;
  return {
    from: step,
    to: step,
    first: value,
    last: value,
    min: finite,
    max: finite,
    mean: finite,
    count: 1,
    nan: Number.isNaN(value) ? 1 : 0,
    infinite: Math.abs(value) === Infinity ? 1 : 0,
  };
}

/** Merges two consecutive items. */
export function join(a: Item, b: Item): Item {
  const [n, more] = [finiteOf(a), finiteOf(b)];
  const share = n + more === 0 ? 0 : more / (n + more);
  return {
    from: Math.min(a.from, b.from),
    to: Math.max(a.to, b.to),
    first: a.first,
    last: b.last,
    min: n === 0 ? b.min : more === 0 ? a.min : Math.min(a.min, b.min),
    max: n === 0 ? b.max : more === 0 ? a.max : Math.max(a.max, b.max),
    mean: a.mean + (b.mean * share - a.mean * share),
    count: a.count + b.count,
    nan: a.nan + b.nan,
    infinite: a.infinite + b.infinite,
  };
}

const finiteOf = ({ count, nan, infinite }: Item): number => count - nan - infinite;

type Untimed = Omit<SeriesPoint, 'at'>;

/** Points with their times, from the items of the time in order of steps: exact or, within an aggregate, in proportion. */
export function timed(points: readonly Untimed[], times: readonly Item[]): SeriesPoint[] {
  let next = 0;
  return points.map((point) => {
    while (next < times.length && times[next]!.from <= point.to) next++;
    const item = times[next - 1];
    if (item === undefined) return { ...point, at: null };
    const share = item.to > item.from ? Math.min(1, (point.to - item.from) / (item.to - item.from)) : 1;
    return { ...point, at: Math.round(item.first + share * (item.last - item.first)) };
  });
}

/**
 * At most `resolution` points: the items themselves if they are few enough, otherwise one point for each of `resolution`
 * equal ranges of steps. Points of two attempts are merged only within one range.
 */
export function condense(items: readonly { attempt: number; item: Item }[], resolution: number): Untimed[] {
  if (items.length <= resolution) return items.map(({ attempt, item }) => toPoint(attempt, item));
  let [least, most] = [Infinity, 0];
  for (const { item } of items) {
    least = Math.min(least, item.from);
    most = Math.max(most, item.from);
  }
  const width = (most - least + 1) / resolution;
  const joined = new Map<number, { attempt: number; item: Item }>();
  for (const { attempt, item } of items) {
    const stretch = Math.floor((item.from - least) / width);
    const before = joined.get(stretch);
    joined.set(stretch, { attempt, item: before ? join(before.item, item) : item });
  }
  return [...joined].sort(([a], [b]) => a - b).map(([, { attempt, item }]) => toPoint(attempt, item));
}

function toPoint(attempt: number, item: Item): Untimed {
  const none = finiteOf(item) === 0;
  return {
    attempt,
    from: item.from,
    to: item.to,
    count: item.count,
    first: toValue(item.first),
    last: toValue(item.last),
    min: none ? null : item.min,
    max: none ? null : item.max,
    mean: none ? null : item.mean,
    nan: item.nan,
    infinite: item.infinite,
  };
}
