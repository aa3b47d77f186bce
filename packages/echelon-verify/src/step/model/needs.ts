/** Which columns and settings a stage needs, and which of them a step lacks. */

import type { StepBatch } from '../../format/step-batch.ts';
import type { ColumnKey } from '../../format/step-columns.ts';
import type { AggregationSettings } from '../../format/step-settings.ts';
import { completeLoss, lossOf } from '../losses/registry.ts';
import { aggregationOf } from './aggregations.ts';
import { klModel } from './kl.ts';
import type { Layout } from './layout.ts';

/** Keys as a batch has them, such as `tokens.logProb` or `step.policyLoss`. */
export function lacking(batch: StepBatch, keys: readonly ColumnKey[]): string[] {
  return keys.filter((key) => batch.tokens[key] === undefined).map((key) => `tokens.${key}`);
}

/** What the ratio lacks. Without old log-probs it is 1 for every token. */
export function lackingRatio(batch: StepBatch): string[] {
  return lacking(batch, ['logProb']);
}

/** What the loss of a token lacks. */
export function lackingLoss(batch: StepBatch): string[] {
  const { policyLoss } = batch.step;
  const lacks = lackingRatio(batch);
  if (batch.tokens.reportedAdvantage === undefined && batch.reportedAdvantage === undefined)
    lacks.push('reported.advantage or tokens.reportedAdvantage');
  if (policyLoss === undefined) return [...lacks, 'step.policyLoss'];
  const loss = lossOf(policyLoss.name);
  if (loss === undefined) return [...lacks, `a known loss (step.policyLoss.name is ${policyLoss.name})`];
  if (batch.step.offPolicyMask?.sampledBy === 'rollout') lacks.push(...lacking(batch, ['rolloutLogProb']));
  const complete = completeLoss(loss, policyLoss.params);
  if ('unknown' in complete)
    lacks.push(`a known parameter (step.policyLoss.${complete.unknown} is not known)`);
  return lacks;
}

/** What the weight of the rollout correction lacks. */
export function lackingWeight(batch: StepBatch): string[] {
  const { rolloutCorrection } = batch.step;
  if (rolloutCorrection === undefined)
    return batch.tokens.rolloutWeight === undefined ? [] : ['step.rolloutCorrection'];
  return batch.tokens.rolloutWeight === undefined
    ? lackingComputedWeight(batch)
    : lacking(batch, ['logProb']);
}

/** What the weight that the stated correction gives lacks, whatever weight is recorded. */
export function lackingComputedWeight(batch: StepBatch): string[] {
  const { rolloutCorrection } = batch.step;
  return [
    ...(rolloutCorrection === undefined ? ['step.rolloutCorrection'] : []),
    ...(rolloutCorrection?.action === 'unknown' ? ['step.rolloutCorrection.action'] : []),
    ...lacking(batch, ['rolloutLogProb', 'logProb']),
  ];
}

/** What the KL term of the loss lacks; nothing if the loss has none. */
export function lackingKl(batch: StepBatch): string[] {
  const { kl } = batch.step;
  if (kl === undefined || kl.placement === 'reward' || kl.coefficient === 0) return [];
  const model = klModel(kl);
  const unknown = 'unknown' in model ? [`a known estimator (step.kl says ${model.unknown})`] : [];
  return [...lacking(batch, ['logProb', 'referenceLogProb']), ...unknown];
}

/** What the denominators lack. */
export function lackingAggregation(batch: StepBatch, layout: Layout): string[] {
  const { aggregation, kl } = batch.step;
  if (aggregation === undefined) return ['step.aggregation'];
  const lacks = batch.microBatch === undefined && layout.microBatches > 1 ? ['microBatch'] : [];
  for (const settings of [aggregation, ...(kl?.aggregation ? [kl.aggregation] : [])]) {
    const mode = aggregationOf(settings.mode);
    if (mode === undefined) lacks.push(`a known mode (step.aggregation.mode is ${settings.mode})`);
    else {
      lacks.push(...(mode.needs?.(settings, layout) ?? []).map((key) => `step.aggregation.${key}`));
      if (mode.counts(settings)) lacks.push(...lackingScope(batch, settings, layout));
    }
    if (settings.counts === 'sampled') lacks.push(...lacking(batch, ['sampled']));
    // With `kept` alone, the mask before rejection is not known.
    if (settings.counts === 'mask' && batch.tokens.kept !== undefined)
      lacks.push(...lacking(batch, ['mask']));
  }
  return lacks;
}

/** What a count over the scope lacks: other ranks, or the rest of the rollout batch. */
function lackingScope({ step }: StepBatch, { mode, scope }: AggregationSettings, layout: Layout): string[] {
  const isOfAll = scope === 'global' || scope === 'window' || mode === 'prompt-mean';
  return [
    ...(isOfAll ? lackingRanks(layout) : []),
    ...(scope === 'window' && step.window === undefined ? ['step.window'] : []),
  ];
}

/** Ranks that are not recorded, or not in the files that were given. */
export function lackingRanks({ missingRanks, ranks }: Layout): string[] {
  return missingRanks === 0 ? [] : [`the files of ${missingRanks} other of ${ranks} ranks`];
}

/** What the gradient coefficient lacks, the column itself apart. */
export function lackingGradient(batch: StepBatch, layout: Layout): string[] {
  const lacks = [
    ...lackingLoss(batch),
    ...lackingWeight(batch),
    ...lackingKl(batch),
    ...lackingAggregation(batch, layout),
  ];
  return [...new Set([...lacks, ...notPerToken(batch)])];
}

/**
 * A loss with one ratio per row gives the same gradient in its stop-gradient form and in the plain one only while the row has one
 * weight; the plain form of a KL term that is multiplied by that ratio is a sum over the row.
 */
function notPerToken({ step }: StepBatch): string[] {
  const { policyLoss, rolloutCorrection, kl } = step;
  const loss = lossOf(policyLoss?.name ?? '');
  if (loss?.row === undefined) return [];
  const lacks: string[] = [];
  const isOne = rolloutCorrection?.level === 'sequence' && rolloutCorrection.keptWeight === 'statistic';
  if (rolloutCorrection !== undefined && !isOne && loss.usesWeight !== true)
    lacks.push('a form of the gradient (one ratio per row with weights per token)');
  if (kl?.weight === 'ratio' && loss.hasRowRatio === true)
    lacks.push('a form of the gradient (the KL term times the ratio of the row)');
  return lacks;
}
