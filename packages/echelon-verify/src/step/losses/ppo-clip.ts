import { clippedProduct, type Edges, edgeOf } from './clip.ts';
import { type LossParameters, type PolicyLoss, SIDE } from './loss.ts';

/** The edges for A >= 0, and for A < 0. */
function edges({ clipLow, clipHigh, dualClip, delta }: LossParameters): { up: Edges; down: Edges } {
  const high = 1 + clipHigh!;
  const none = Number.POSITIVE_INFINITY;
  const cap = Number.isNaN(delta!) ? none : delta!;
  const twoSided = Number.isNaN(delta!) ? none : Math.max(cap, high);
  const dual = Number.isNaN(dualClip!) ? none : dualClip!;
  const above = dual <= twoSided ? SIDE.dual : SIDE.none;
  return {
    up: { low: -none, high: Math.min(cap, high), above: SIDE.clip },
    down: { low: 1 - clipLow!, high: Math.min(twoSided, dual), above },
  };
}

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
    dualClip: { fallback: null, means: 'c: for A < 0 the loss is at most c·|A|' },
    delta: { fallback: null, means: 'δ: upper bound of the ratio in the first term (two-sided clipping)' },
    logRatioClamp: { fallback: null, means: 'the log-ratio is clamped to ± this before exp' },
  },
  edge(token, params) {
    const { up, down } = edges(params);
    return edgeOf(token, token.advantage >= 0 ? up : down);
  },
  bind(params, to) {
    const { up, down } = edges(params);
    return (token) => clippedProduct(token, token.advantage >= 0 ? up : down, to);
  },
};
