/** How losses of tokens become the loss of a step: one file for each mode in this folder. */

import type { AggregationSettings } from '../format/settings.ts';
import type { Layout } from '../layout.ts';

/** A mode of aggregation. Every denominator is made of integers, so it is exact. */
export interface Aggregation {
  readonly mode: string;
  /** The divisor of a token, as text. */
  readonly divisor: string;
  /** Where trainers have it. */
  readonly source: string;
  /** What the mode needs and the step does not state, as names of keys. */
  needs?(settings: AggregationSettings, layout: Layout): string[];
  /** The number by which the loss of each token of a row is divided. */
  divide(layout: Layout, row: number, settings: AggregationSettings): number;
  /** The part of the divisor that all rows of the scope share. Omitted: all of it. */
  common?(layout: Layout, row: number, settings: AggregationSettings): number;
}
