/** The off-policy mask: rows with a negative advantage that moved away from the policy that sampled them have no policy loss. */

import { exactly, include } from '../../arithmetic/interval.ts';
import type { OffPolicySettings } from '../../format/step-settings.ts';
import type { StepArithmetic } from '../losses/arithmetic.ts';
import type { LossTerms } from '../losses/loss.ts';
import { rowMean } from '../losses/sequence.ts';

/** Log-probs, and which tokens count. */
export interface OffPolicyTokens {
  readonly logProb: Float32Array;
  /** Log-probs of the policy that sampled the tokens. NaN: the engine could not score the token, which counts as no distance. */
  readonly sampledLogProb: Float32Array;
  readonly counted: Uint8Array | undefined;
}

/** The mask of a step. `startRow` comes before the tokens of a row. */
export interface OffPolicyModel {
  startRow(start: number, end: number): void;
  /** Makes loss and gradient of a token 0 if its row is dropped, and admits 0 if it may be. */
  apply(advantage: number, loss: LossTerms): void;
}

/**
 * The mask keeps a token if its advantage is at least 0, or if the mean of sampledLogProb − logProb over the row is at most the threshold.
 * Source: TRL grpo_trainer.py `get_off_policy_mask`.
 */
export function offPolicyModel(
  { threshold }: OffPolicySettings,
  { logProb, sampledLogProb, counted }: OffPolicyTokens,
  arithmetic: StepArithmetic,
): OffPolicyModel {
  let isDropped = false;
  let mayBe = false;
  const distance = (token: number): number => {
    const gap = sampledLogProb[token]! - logProb[token]!;
    return Number.isNaN(gap) ? 0 : gap;
  };
  return {
    startRow(start, end) {
      const { mean, error } = rowMean({ start, end, kept: counted }, distance, 2, arithmetic);
      const off = error + arithmetic.unit * Math.abs(threshold);
      isDropped = mean > threshold;
      mayBe = Math.abs(mean - threshold) <= off;
    },
    apply(advantage, { loss, gradient }) {
      if (advantage >= 0) return;
      if (mayBe) {
        include(loss, 0);
        include(gradient, 0);
      } else if (isDropped) {
        exactly(loss, 0);
        exactly(gradient, 0);
      }
    },
  };
}
