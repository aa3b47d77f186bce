import { emptyInterval } from '../../arithmetic/interval.ts';
import type { StepBatch } from '../../format/step-batch.ts';
import type { StepPrecision } from '../../format/step-settings.ts';
import { CODE, judge } from '../../step/model/judge.ts';
import type { Layout } from '../../step/model/layout.ts';
import { stepModel } from '../../step/stages/chain.ts';
import { lackingComputedWeight } from '../../step/stages/weight.ts';
import { weightChanges } from './weight-changes.ts';

/** Which changes of the stated correction give every recorded rollout weight, if the stated one does not. */
export function weightNames(
  batch: StepBatch,
  { layout, precision }: { layout: Layout; precision: StepPrecision },
): string[] {
  const { rolloutWeight } = batch.tokens;
  if (rolloutWeight === undefined || lackingComputedWeight(batch).length > 0) return [];
  const gives = (changed: StepBatch): boolean => givesAll(changed, rolloutWeight, { layout, precision });
  if (gives(batch)) return [];
  return weightChanges(batch)
    .filter(({ apply }) => gives(apply(batch)))
    .map(({ text }) => `of the recorded weights: ${text}`);
}

function givesAll(
  batch: StepBatch,
  reported: Float32Array,
  { layout, precision }: { layout: Layout; precision: StepPrecision },
): boolean {
  const { computedWeight, kept, startRow } = stepModel(batch, precision, layout);
  const { offset } = batch.tokens;
  const weight = emptyInterval();
  if (computedWeight === undefined) return false;
  for (let row = 0; row < batch.rows; row++) {
    startRow(row);
    for (let token = offset[row]!; token < offset[row + 1]!; token++) {
      if (kept?.[token] === 0) continue;
      computedWeight(token, weight);
      if (judge(reported[token]!, weight, weight.value) === CODE.wrong) return false;
    }
  }
  return true;
}
