import { clippedProduct, edgeOf, edgesOf } from './clip.ts';
import type { PolicyLoss } from './loss.ts';

/**
 * PPO clip: max(−A·min(r, δ), −A·clip(r, 1 − ε₋, 1 + ε₊)), and with dual clip min(c·|A|, that) for A < 0. With A > 0 the
 * loss is constant above min(δ, 1 + ε₊); with A < 0 below 1 − ε₋ and above min(c, max(δ, 1 + ε₊)). clip-higher is ε₊ ≠ ε₋.
 * Source: verl core_algos.py `vanilla`, TRL grpo_trainer.py, SkyRL ppo_utils.py `regular` and `dual_clip`.
 */
export const PPO_CLIP: PolicyLoss = {
  name: 'ppo-clip',
  formula: 'max(-A r, -A clip(r, 1 - clipLow, 1 + clipHigh)); for A < 0 at most dualClip |A|',
  source: 'verl vanilla; TRL grpo, bnpo, dr_grpo, dapo; SkyRL regular, dual_clip; slime; NeMo-RL; AReaL',
  parameters: {
    clipLow: { fallback: 0.2, means: 'ε₋: the ratio is clipped below 1 − ε₋' },
    clipHigh: { fallback: 0.2, means: 'ε₊: the ratio is clipped above 1 + ε₊' },
    dualClip: { fallback: null, means: 'c: for A < 0 the loss is at most c·|A|', guesses: [null] },
    delta: {
      fallback: null,
      means: 'δ: upper bound of the ratio in the first term (two-sided clipping)',
      guesses: [null, 20],
    },
    logRatioClamp: {
      fallback: null,
      means: 'the log-ratio is clamped to ± this before exp',
      guesses: [null, 20],
    },
  },
  lowerSide: 'dual clip',
  measure: ({ ratio }) => ratio - 1,
  edge(token, params) {
    const { up, down } = edgesOf(params);
    return edgeOf(token, token.advantage >= 0 ? up : down);
  },
  bind(params, to) {
    const { up, down } = edgesOf(params);
    return (token) => clippedProduct(token, token.advantage >= 0 ? up : down, to);
  },
};
