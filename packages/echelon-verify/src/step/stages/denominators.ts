/** Denominators that micro-batches and rows report, against counts of tokens and rows. */

import { aggregationOf } from '../model/aggregations.ts';
import type { StepModel } from '../model/chain.ts';

/** One reported denominator. */
export interface DenominatorCheck {
  /** "micro-batch 3" or "row 3". */
  readonly place: string;
  /** A row of the place. */
  readonly row: number;
  readonly reported: number;
  readonly expected: number;
  readonly isRight: boolean;
}

/**
 * Compares every reported denominator. Counts are integers, so they are equal or not; a denominator that is no integer, such
 * as TRL's, may be rounded to float32. Undefined if none is reported or the aggregation cannot be computed.
 */
export function checkDenominators({ batch, lacks, layout }: StepModel): DenominatorCheck[] | undefined {
  const { aggregation, microBatches } = batch.step;
  if (aggregation === undefined || lacks.aggregation.length > 0) return undefined;
  const mode = aggregationOf(aggregation.mode)!;
  const firstRow = new Map<number, number>();
  for (let row = batch.rows - 1; row >= 0; row--) firstRow.set(layout.microBatchOf(row), row);
  const ofMicroBatches = microBatches.flatMap(({ reportedDenominator: reported }, microBatch) => {
    const row = firstRow.get(microBatch);
    // A stated divisor is no count of anything: the trainer's own number would be compared with itself.
    if (reported === undefined || row === undefined || !mode.counts(aggregation)) return [];
    const expected = (mode.common ?? mode.divide)(layout, row, aggregation);
    return [compared({ place: `micro-batch ${microBatch}`, row, reported, expected })];
  });
  const { own } = mode;
  const { reportedDenominator: ofRows } = batch;
  if (own === undefined || ofRows === undefined) return ofMicroBatches;
  const rows = Array.from(ofRows, (reported, row) => {
    const expected = own(layout, row, aggregation);
    return compared({ place: `row ${row}`, row, reported: Math.max(1, reported), expected });
  });
  return [...ofMicroBatches, ...rows];
}

function compared(found: Omit<DenominatorCheck, 'isRight'>): DenominatorCheck {
  const { reported, expected } = found;
  const isNear = !Number.isInteger(expected) && Math.fround(reported) === Math.fround(expected);
  return { ...found, isRight: reported === expected || isNear };
}
