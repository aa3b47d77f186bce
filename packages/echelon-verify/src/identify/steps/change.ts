/** A change of what a step states: one guess at the arithmetic that was used in its place. */

import type { StepBatch } from '../../format/step-batch.ts';
import type { StepSettings } from '../../format/step-settings.ts';

/** Kinds of changes. A hypothesis has at most one of each. */
export const DIMENSIONS = ['aggregation', 'loss', 'old', 'advantage', 'weight', 'kl'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** One guess. */
export interface Change {
  readonly dimension: Dimension;
  /** What was done, as a sentence without a full stop: "token-mean per micro-batch; you said global". */
  readonly text: string;
  readonly apply: (batch: StepBatch) => StepBatch;
}

/** A batch whose settings are changed. */
export function withSettings(batch: StepBatch, settings: Partial<StepSettings>): StepBatch {
  return { ...batch, step: { ...batch.step, ...settings } };
}

/** A batch whose settings lack one. */
export function withoutSetting(batch: StepBatch, key: keyof StepSettings): StepBatch {
  const { [key]: _removed, ...step } = batch.step;
  return { ...batch, step: step as StepSettings };
}

/** A batch without a token column. */
export function withoutColumn(batch: StepBatch, key: keyof StepBatch['tokens']): StepBatch {
  const { [key]: _removed, ...tokens } = batch.tokens;
  return { ...batch, tokens: tokens as StepBatch['tokens'] };
}
