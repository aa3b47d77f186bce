/** The rollout correction: the weight of a token or a row, made of exp(oldLogProb − rolloutLogProb). */

import type { Interval } from '../../arithmetic/interval.ts';
import { around, emptyInterval, exactly, include } from '../../arithmetic/interval.ts';
import type { StepBatch } from '../../format/step-batch.ts';
import type { CorrectionSettings } from '../../format/step-settings.ts';
import { expError, type StepArithmetic } from '../losses/arithmetic.ts';
import { expErrorAround, rowMean } from '../losses/sequence.ts';
import { hasWeight, lacking } from '../model/model.ts';
import { comparison, type TokenStage } from './stage.ts';

/** Log-probs of the old policy and the rollout engine, and which tokens count. */
export interface CorrectionTokens {
  readonly oldLogProb: Float32Array;
  readonly rolloutLogProb: Float32Array;
  readonly counted: Uint8Array | undefined;
}

/** The weights of a step. `startRow` comes before the tokens of a row. */
export interface CorrectionModel {
  readonly settings: CorrectionSettings;
  startRow(start: number, end: number): void;
  fill(token: number, weight: Interval): void;
}

/** The model of the stated correction. */
export function correctionModel(
  settings: CorrectionSettings,
  tokens: CorrectionTokens,
  arithmetic: StepArithmetic,
): CorrectionModel {
  const { level, keptWeight, exponentClamp = Number.POSITIVE_INFINITY } = settings;
  const { oldLogProb, rolloutLogProb, counted } = tokens;
  const logRatio = (token: number) => oldLogProb[token]! - rolloutLogProb[token]!;
  const ofRow = emptyInterval();
  const held = (x: number) => Math.max(-exponentClamp, Math.min(exponentClamp, x));
  const fillToken = (token: number, weight: Interval): void => {
    const x = held(logRatio(token));
    const ratio = Math.exp(x);
    around(weight, ratio, ratio * expError(x, arithmetic));
  };
  return {
    settings,
    startRow(start, end) {
      if (level === 'token') return;
      const { mean, error, count } = rowMean({ start, end, kept: counted }, logRatio, 1, arithmetic);
      const times = settings.statistic === 'mean' ? 1 : count;
      const x = held(mean * times);
      const ratio = Math.exp(x);
      around(ofRow, ratio, ratio * expErrorAround(x, error * times, arithmetic));
      limit(ofRow, ofRow, settings, arithmetic);
    },
    fill(token, weight) {
      if (level === 'token') {
        fillToken(token, weight);
        limit(weight, weight, settings, arithmetic);
      } else if (keptWeight === 'statistic') copy(ofRow, weight);
      else {
        fillToken(token, weight);
        if (ofRow.high === 0) exactly(weight, 0);
        else if (ofRow.low === 0) include(weight, 0);
      }
    },
  };
}

/**
 * Truncates or masks. A cap is continuous, so the error stays; at a limit of a mask both 0 and the ratio are admitted within the
 * error of the ratio and the limit's rounding.
 */
function limit(
  from: Interval,
  to: Interval,
  { action, low = 0, high = Number.POSITIVE_INFINITY }: CorrectionSettings,
  { unit }: StepArithmetic,
): void {
  const { value, low: least, high: most } = from;
  if (action === 'truncate') {
    const clamped = (x: number) => Math.max(low, Math.min(high, x));
    to.value = clamped(value);
    to.low = clamped(least) * (1 - unit);
    to.high = clamped(most) * (1 + unit);
    return;
  }
  const isOut = most < low * (1 - unit) || least > high * (1 + unit);
  const isIn = least > low * (1 + unit) && most < high * (1 - unit);
  if (isOut) exactly(to, 0);
  else if (!isIn && low + unit > 0) include(to, 0);
}

function copy(from: Interval, to: Interval): void {
  to.value = from.value;
  to.low = from.low;
  to.high = from.high;
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

/** A recorded weight is what is judged, never what is expected: that is the weight which the stated correction gives. */
export const WEIGHT: TokenStage = {
  title: 'rollout weight',
  isFactor: true,
  needs: [],
  isUsed: hasWeight,
  compare({ batch, lacks, computedWeight }) {
    if (!hasWeight(batch)) return undefined;
    const { rolloutWeight: reported } = batch.tokens;
    const computed = emptyInterval();
    return comparison({
      reported,
      lacks: reported === undefined ? lacks.weight : lackingComputedWeight(batch),
      term({ weight }, token) {
        if (reported === undefined) return weight;
        computedWeight?.(token, computed);
        return computed;
      },
      size: () => computed.value,
    });
  },
};
