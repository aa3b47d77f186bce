/** Denominators that the micro-batches report, against counts of tokens and rows. */

import { aggregationOf } from '../aggregations.ts';
import type { StepModel } from '../chain.ts';

/** One reported denominator. */
export interface DenominatorCheck {
  readonly microBatch: number;
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
  return microBatches.flatMap(({ reportedDenominator: reported }, microBatch) => {
    const row = firstRow.get(microBatch);
    if (reported === undefined || row === undefined) return [];
    const expected = (mode.common ?? mode.divide)(layout, row, aggregation);
    const isRight = reported === expected || Math.fround(reported) === Math.fround(expected);
    return [
      {
        microBatch,
        reported,
        expected,
        isRight: Number.isInteger(expected) ? reported === expected : isRight,
      },
    ];
  });
}
