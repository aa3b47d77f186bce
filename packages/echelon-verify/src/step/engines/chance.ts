/** Thresholds that follow from numbers of tokens and rows and from an arithmetic, and are tuned to no trainer. */

import type { StepPrecision } from '../../format/step-settings.ts';
import { stepArithmetic } from '../losses/arithmetic.ts';

/** Chance that a statistic of a right step is called off. */
const CHANCE = 1e-4;

/**
 * A log-ratio that no token of a right step exceeds, whatever the two policies are: E[ρ] = 1, so by Markov's inequality
 * P(ρ ≥ x) ≤ 1/x for each of the tokens. A token that the trainer finds less likely by this much is reported alike.
 */
export function farLogRatio(tokens: number): number {
  return Math.log(tokens / CHANCE);
}

/** Standard errors beyond which the mean of so many rows is off: Student's t at the chance of four normal deviations (Wallace). */
export function deviationsOf(rows: number, normal = 4): number {
  const free = rows - 1;
  if (free < 1) return Number.POSITIVE_INFINITY;
  const z = (normal * (8 * free + 3)) / (8 * free + 1);
  return Math.sqrt(free * Math.expm1((z * z) / free));
}

/** Normal deviations that none of so many right rows reaches. */
export function deviationsOfOne(rows: number): number {
  return deviationsOf(rows, Math.sqrt(2 * Math.log(rows / CHANCE)));
}

/** Size of logits from which a log-prob is made: the unit in the last place of numbers from 16 to 32 is 32u. */
const LOGIT_UNITS = 32;

/** KL divergence of two engines that differ by the rounding of their logits alone: half of twice the variance of a rounding. */
export function roundingKl(precision: StepPrecision): number {
  return (LOGIT_UNITS * stepArithmetic(precision).unit) ** 2 / 12;
}

/** True if of so many tokens more than chance are nearer to a neighbour: a sign test of four deviations. */
export function isMoreThanHalf(count: number, tokens: number): boolean {
  return count - tokens / 2 > 2 * Math.sqrt(tokens);
}
