/** One outcome per row: reported against true, within what the trainer's arithmetic can give. */

import { FLOAT32 } from '../arithmetic/arithmetic.ts';
import { type Batch, reportedValues } from '../format/batch.ts';
import { DISPLAY_FLOOR, DISPLAY_TOLERANCE, type RowOutcome } from '../report/report.ts';
import { admits, BATCH_EFFORT, type Effort, type RowParts } from './admissible.ts';
import { createRowModel, type ModelOutcome, type RowModel } from './row-model.ts';

/** Judges values for rows of one batch. */
export interface Judge {
  readonly model: RowModel;
  /** The advantages that the batch reports, one per row of the model. */
  readonly reported: Float64Array | undefined;
  /**
   * The outcome of `value` as row `row`'s advantage, or as that of a token of the batch if the model is per token. The true value, rounded to float32, is exact whatever the
   * arithmetic was: to compute better than stated is no fault.
   */
  judge(row: number, value: number): RowOutcome;
  /** The rows that were judged so far to have a value that only another form than the recipe's gives. */
  readonly byOtherForm: ReadonlySet<number>;
}

/** Why a batch has no judge: what it lacks, or what has no error bounds, in words. */
export type Unjudged = Exclude<ModelOutcome, { readonly model: RowModel }>;

/** A judge, or why there is none. */
export function createJudge(batch: Batch): Judge | Unjudged {
  const outcome = createRowModel(batch);
  if (!('model' in outcome)) return outcome;
  const { model } = outcome;
  const effort: Effort = { left: BATCH_EFFORT };
  // Of its own, so that rows that need other forms do not blunt the recipe's bounds for the rows after them.
  const otherEffort: Effort = { left: BATCH_EFFORT };
  const outOfRange = weightsLeaveRange(model);
  const byOtherForm = new Set<number>();
  return {
    model,
    reported: reportedValues(batch),
    byOtherForm,
    judge(row, value) {
      const truth = model.truth[row]!;
      if (outOfRange && !(Math.abs(value - truth) <= 2 * FLOAT32.unit * Math.abs(truth)))
        return 'unverifiable';
      if (!Number.isFinite(truth)) return Number.isFinite(value) ? 'wrong' : 'exact';
      if (!model.isPerToken && batch.responseLength?.[row] === 0 && value === 0) return 'exact';
      if (Math.abs(value - truth) <= 2 * FLOAT32.unit * Math.abs(truth)) return 'exact';
      if (model.arithmetic.isNarrow === true && !Number.isFinite(value)) return 'unverifiable';
      const parts = model.parts(row);
      if (mayOverflow(parts)) return 'unverifiable';
      if (!admits(parts, value, effort)) {
        if (batch.estimator.forms === 'recipe') return 'wrong';
        const inAnyForm = model.parts(row, 'any');
        if (mayOverflow(inAnyForm)) return 'unverifiable';
        if (!admits(inAnyForm, value, otherEffort)) return 'wrong';
        byOtherForm.add(row);
      }
      return isClose(value, truth) ? 'exact' : 'rounding';
    },
  };
}

function mayOverflow({ parts }: RowParts): boolean {
  return parts.some((part) => part.bounds.overflow[part.cluster] === 1);
}

/**
 * True if the weights (L^alpha, or the step weight) come near the ends of the arithmetic's range: they may turn into
 * infinity or 0 on the way, and a row's advantage into NaN. Ordinary alphas (below 30 or so in size) are far from it.
 */
export function weightsLeaveRange({ combination, levels, arithmetic }: RowModel): boolean {
  const margin = Math.min(2 ** 45, arithmetic.overflow ** 0.36);
  return levels.some(
    ({ weight }) =>
      Math.abs(weight) * margin > arithmetic.overflow ||
      (combination === 'weighted' && weight * arithmetic.overflow < margin),
  );
}

/** Within the display constant: |value - truth| <= 1e-4 max(|truth|, 0.01). */
export function isClose(value: number, truth: number): boolean {
  return Math.abs(value - truth) <= DISPLAY_TOLERANCE * Math.max(Math.abs(truth), DISPLAY_FLOOR);
}
