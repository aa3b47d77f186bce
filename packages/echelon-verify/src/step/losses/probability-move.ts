import { expError, type StepArithmetic } from './arithmetic.ts';
import { type ClipEdge, type LossParameters, SIDE, type TokenState } from './loss.ts';

/**
 * Side of a token in the total-variation test: clipped if its probability has risen by more than clipHigh for A > 0, or fallen by
 * more than clipLow else. The difference of two exponentials has their absolute errors, which may leave the side undecided.
 */
export function sideOfMove(
  { advantage, logProb, oldLogProb }: TokenState,
  { clipLow, clipHigh }: { clipLow: number; clipHigh: number },
  arithmetic: StepArithmetic,
): number {
  const { unit } = arithmetic;
  const [now, before] = [Math.exp(logProb), Math.exp(oldLogProb)];
  const moved = advantage > 0 ? now - before : before - now;
  const error =
    now * expError(logProb, arithmetic) + before * expError(oldLogProb, arithmetic) + unit * Math.abs(moved);
  const most = advantage > 0 ? clipHigh : clipLow;
  if (moved - error > most * (1 + unit)) return SIDE.clip;
  return moved + error < most * (1 - unit) ? SIDE.none : SIDE.undecided;
}

/** The limit of the test, and how far the token's probability has moved. */
export function edgeOfMove(
  { advantage, logProb, oldLogProb }: TokenState,
  { clipLow, clipHigh }: LossParameters,
): ClipEdge {
  const value = Math.exp(logProb) - Math.exp(oldLogProb);
  return { of: 'change of the probability', value, limit: advantage > 0 ? clipHigh! : -clipLow! };
}
