/** Which rows of a step the trainer compared with one another, if the dump leaves more than one choice. */

import type { Precision } from '../arithmetic/arithmetic.ts';
import type { DumpStep } from '../dumps/adapter.ts';
import { batchOf } from '../dumps/dump-batch.ts';
import { inferEstimator } from '../dumps/infer.ts';
import type { BatchEstimator } from '../format/batch.ts';
import { verifyBatch } from './verify-batch.ts';

/** A step as the trainer may have compared its rows. */
export interface ReadStep {
  readonly step: DumpStep;
  /** `one`: the dump leaves no choice. `fits`: no row contradicts it, unlike the readings before. */
  readonly reading: 'one' | 'fits' | 'none fits';
}

/** A step in each of its readings. What they have in common stands in the first. */
function readingsOf(step: DumpStep): DumpStep[] {
  return [step, ...(step.otherReadings ?? []).map((own) => ({ ...step, ...own }))];
}

/** The first reading of a step by which no row is wrong. */
export function readStep(step: DumpStep, estimator: BatchEstimator): ReadStep {
  if (step.otherReadings === undefined) return { step, reading: 'one' };
  const all = readingsOf(step);
  const fits = all.find((own) => verifyBatch(batchOf(own, estimator)).wrong === 0);
  return fits === undefined ? { step, reading: 'none fits' } : { step: fits, reading: 'fits' };
}

/** The estimator that explains most rows, whichever reading of the steps it needs. */
export function inferReading(
  steps: readonly DumpStep[],
  known: readonly BatchEstimator[],
  precision: Precision | undefined,
): ReturnType<typeof inferEstimator> {
  const readings =
    1 + steps.reduce((most, { otherReadings = [] }) => Math.max(most, otherReadings.length), 0);
  const found = Array.from({ length: readings }, (_, at) => {
    const read = steps.map((step) => readingsOf(step)[at] ?? step);
    return inferEstimator(read, known, precision);
  });
  return found.reduce((a, b) => ((b.best?.share ?? 0) > (a.best?.share ?? 0) ? b : a));
}
