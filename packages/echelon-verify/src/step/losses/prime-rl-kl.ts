import { around, include } from '../../arithmetic/interval.ts';
import { type LossTerms, SIDE } from './loss.ts';

/**
 * Sets the loss and the gradient of a token of prime-rl: the policy's term with its error, and klTau·(ln r)², which stays if the token
 * is dropped. `out.side` is set before.
 */
export function setWithKl(
  out: LossTerms,
  {
    policy,
    policyError,
    klTau,
    logRatio,
    unit,
  }: { policy: number; policyError: number; klTau: number; logRatio: number; unit: number },
): void {
  const square = klTau * logRatio * logRatio;
  const slope = 2 * klTau * logRatio;
  around(out.loss, policy + square, policyError + unit * (5 * square + Math.abs(policy)));
  around(out.gradient, policy + slope, policyError + unit * (5 * Math.abs(slope) + Math.abs(policy)));
  if (out.side !== SIDE.undecided) return;
  include(out.loss, square);
  include(out.gradient, slope * (1 - 6 * unit));
  include(out.gradient, slope * (1 + 6 * unit));
}
