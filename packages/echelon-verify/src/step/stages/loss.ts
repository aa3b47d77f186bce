/** The policy loss of a token. Each loss gives value, derivative and bounds in its own file in ../losses. */

import { significant } from 'command-kit/number';
import { emptyInterval, errorOf } from '../../arithmetic/interval.ts';
import type { StepBatch } from '../../format/step-batch.ts';
import { completeLoss, lossOf } from '../losses/registry.ts';
import { lacking } from '../model/model.ts';
import { comparison, type TokenStage } from './stage.ts';

/** What the loss of a token lacks. */
export function lackingLoss(batch: StepBatch): string[] {
  const { policyLoss } = batch.step;
  const lacks = lacking(batch, ['logProb']);
  if (batch.tokens.reportedAdvantage === undefined && batch.reportedAdvantage === undefined)
    lacks.push('reported.advantage or tokens.reportedAdvantage');
  if (policyLoss === undefined) return [...lacks, 'step.policyLoss'];
  const loss = lossOf(policyLoss.name);
  if (loss === undefined) return [...lacks, `a known loss (step.policyLoss.name is ${policyLoss.name})`];
  if (batch.step.offPolicyMask?.sampledBy === 'rollout') lacks.push(...lacking(batch, ['rolloutLogProb']));
  const complete = completeLoss(loss, policyLoss.params);
  if ('unknown' in complete)
    lacks.push(`a known parameter (step.policyLoss.${complete.unknown} is not known)`);
  return [...lacks, ...lacking(batch, loss.columns ?? [])];
}

/** The trainer reports it with its weight. */
export const LOSS: TokenStage = {
  title: 'policy loss',
  isFactor: true,
  needs: [],
  compare({ batch, lacks, arithmetic, isWeighted }) {
    const weighted = emptyInterval();
    return comparison({
      reported: batch.tokens.reportedLoss,
      lacks: isWeighted ? [...new Set([...lacks.loss, ...lacks.weight])] : lacks.loss,
      mayLeave: true,
      term({ weight, loss: { loss } }) {
        if (!isWeighted) return loss;
        weighted.value = loss.value * weight.value;
        // A product rounds once more; the second unit covers the rounding of the error itself.
        const own = 2 * arithmetic.unit * Math.abs(weighted.value);
        const off = errorOf(loss) * weight.high + Math.abs(loss.value) * errorOf(weight) + own;
        weighted.low = weighted.value - off;
        weighted.high = weighted.value + off;
        return weighted;
      },
      size: ({ loss: { loss } }) => Math.abs((isWeighted ? weighted : loss).value),
    });
  },
  note: ({ chain }) => `advantage ${significant(chain.state.advantage, 8)}`,
};
