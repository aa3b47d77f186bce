/** The clipped product of advantage and ratio, which PPO-like losses share. */

import { around, exactly, include } from '../../arithmetic/interval.ts';
import type { StepArithmetic } from './arithmetic.ts';
import { type ClipEdge, type LossParameters, type LossTerms, SIDE, type TokenState } from './loss.ts';

/** Between which ratios a token has a gradient, for its sign of the advantage. */
export interface Edges {
  /** Below it the loss is constant; -Infinity if it never is. */
  readonly low: number;
  readonly high: number;
  /** The side of a token beyond `high`. */
  readonly above: number;
}

/** The edges of PPO clip for A >= 0, and for A < 0. Parameters that are omitted or NaN are switched off. */
export function edgesOf({ clipLow, clipHigh, dualClip = Number.NaN, delta = Number.NaN }: LossParameters): {
  up: Edges;
  down: Edges;
} {
  const high = 1 + clipHigh!;
  const none = Number.POSITIVE_INFINITY;
  const twoSided = Number.isNaN(delta) ? none : Math.max(delta, high);
  const dual = Number.isNaN(dualClip) ? none : dualClip;
  return {
    up: { low: -none, high: Number.isNaN(delta) ? high : Math.min(delta, high), above: SIDE.clip },
    down: {
      low: 1 - clipLow!,
      high: Math.min(twoSided, dual),
      above: dual <= twoSided ? SIDE.lower : SIDE.none,
    },
  };
}

/** The edge that the ratio is beyond, or the nearer one. */
export function edgeOf({ ratio }: TokenState, { low, high }: Pick<Edges, 'low' | 'high'>): ClipEdge {
  return { of: 'ratio', value: ratio, limit: ratio - low < high - ratio ? low : high };
}

/**
 * Sets loss −A·clamp(r, low, high) and its gradient −A·r, which is 0 outside. An edge such as 1 + 0.2 rounds once to the
 * arithmetic. Within the error of ratio and edge, either side is admitted, and with max(a, a) also half of the gradient:
 * the gradient then lies between 0 and −A·r.
 */
export function clippedProduct(
  token: TokenState,
  edges: Edges,
  { out, arithmetic }: { out: LossTerms; arithmetic: StepArithmetic },
): void {
  const { advantage, ratio, ratioError, moves } = token;
  const { low, high, above } = edges;
  const { unit } = arithmetic;
  const size = Math.abs(advantage);
  const full = -advantage * ratio;
  const held = Math.max(low, Math.min(ratio, high));
  // Two roundings beside the ratio's error: the edge, and the product.
  around(out.loss, -advantage * held, size * (ratioError + 2 * unit * held));
  const isBelow = ratio + ratioError < low * (1 - unit);
  const isAbove = ratio - ratioError > high * (1 + unit);
  const isInside = ratio - ratioError > low * (1 + unit) && ratio + ratioError < high * (1 - unit);
  if (isBelow || isAbove || moves === 0) exactly(out.gradient, 0);
  else around(out.gradient, full, size * ratioError + unit * Math.abs(full));
  if (!isBelow && !isAbove && (!isInside || moves < 0)) include(out.gradient, 0);
  if (advantage === 0 || isInside) out.side = SIDE.none;
  else if (isBelow) out.side = SIDE.clip;
  else out.side = isAbove ? above : SIDE.undecided;
}
