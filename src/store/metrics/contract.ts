import type { MetricValue } from '../../core/events.ts';

/** Some consecutive points of a series as one; `count` 1: a point as it was recorded. */
export interface SeriesPoint {
  attempt: number;
  /** First and last step that it stands for. */
  from: number;
  to: number;
  /** Points that it stands for, those that are no finite numbers included. */
  count: number;
  first: MetricValue;
  last: MetricValue;
  /** Of its finite values; null where there is none. */
  min: number | null;
  max: number | null;
  mean: number | null;
  /** How many of its points are NaN, and how many infinite. */
  nan: number;
  infinite: number;
}

/** Metrics over the steps of an experiment. */
export interface SeriesStore {
  /** Every metric with its last value, in order of its name; empty where nothing was recorded. */
  names(id: string): Promise<{ name: string; last: MetricValue }[]>;
  /**
   * The series of these metrics between two steps, each of at most `resolution` points: as recorded where there are no
   * more, else aggregated. From the first step that a later attempt reports on, only its values stand. The cost
   * depends on `resolution`, not on the length of the run. A name that is not known has no points.
   */
  series(
    id: string,
    query: { names: readonly string[]; from?: number; to?: number; resolution: number },
  ): Promise<SeriesPoint[][]>;
}
