import type { MetricValue } from '../../core/events.ts';

/** Consecutive points of a series as one; with `count` 1, a recorded point. */
export interface SeriesPoint {
  attempt: number;
  /** First and last step. */
  from: number;
  to: number;
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

/** Metrics over the steps of an experiment. */
export interface SeriesStore {
  /** Every metric with its last value, by name; empty if nothing was recorded. */
  names(id: string): Promise<{ name: string; last: MetricValue }[]>;
  /**
   * The series of these metrics between two steps, each with at most `resolution` points: recorded points if they are few
   * enough, otherwise aggregates. From the first step of a later attempt on, only its values count. The cost depends on
   * `resolution`, not on the number of steps. An unknown name has no points.
   */
  series(
    id: string,
    query: { names: readonly string[]; from?: number; to?: number; resolution: number },
  ): Promise<SeriesPoint[][]>;
  /** Experiments with many values that are not compacted; each is answered once, and again when more values come. */
  takeDue(limit: number): Promise<string[]>;
  /** Compacts the newest values, which changes no answer. May be interrupted and repeated. False: nothing was compacted. */
  compact(id: string): Promise<boolean>;
}
