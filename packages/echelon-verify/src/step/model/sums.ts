/** Sums over the tokens of each micro-batch, from which the reported values of a step are recomputed. */

import { errorOf } from '../../arithmetic/interval.ts';
import type { MeanCounts } from '../../format/step-settings.ts';
import { type StepArithmetic, sumError } from '../losses/arithmetic.ts';
import { SIDE } from '../losses/loss.ts';
import type { StepModel, TokenChain } from './model.ts';

/** A sum of terms: its value, the errors of the terms, the sizes of the terms and their number. */
export interface Sum {
  value: number;
  error: number;
  size: number;
  count: number;
}

/** What the means over tokens are made of, over the tokens of one mask. */
export interface TokenSums {
  /** Σ (oldLogProb − logProb), and Σ (rolloutLogProb − oldLogProb). */
  readonly approxKl: Sum;
  readonly rolloutKl: Sum;
  clipped: number;
  /** Tokens that the lower clip fraction counts. */
  lower: number;
  /** Tokens whose side is not decided. */
  undecided: number;
  tokens: number;
}

/** The sums of one micro-batch. Losses are divided by their denominators and have no scale. */
export interface MicroBatchSums {
  readonly policyLoss: Sum;
  /** Without the coefficient. */
  readonly klLoss: Sum;
  readonly entropy: Sum;
  /** Over the mask, and over the tokens that rejection kept. */
  readonly means: Readonly<Record<MeanCounts, TokenSums>>;
}

const emptySum = (): Sum => ({ value: -0, error: -0, size: -0, count: 0 });

const emptyTokenSums = (): TokenSums => ({
  approxKl: emptySum(),
  rolloutKl: emptySum(),
  clipped: 0,
  lower: 0,
  undecided: 0,
  tokens: 0,
});

/** Sums of 0 for each micro-batch. */
export function emptySums(microBatches: number): MicroBatchSums[] {
  return Array.from({ length: microBatches }, () => ({
    policyLoss: emptySum(),
    klLoss: emptySum(),
    entropy: emptySum(),
    means: { mask: emptyTokenSums(), kept: emptyTokenSums() },
  }));
}

/** Adds a number that is off by `error` at most. */
function add(sum: Sum, value: number, error: number): void {
  sum.value += value;
  sum.error += error;
  sum.size += Math.abs(value);
  sum.count++;
}

/** Adds a token that does not contribute: if rejection dropped it, it counts in means over the mask. */
export function sumRejected(
  sums: MicroBatchSums,
  model: StepModel,
  { row, token }: { row: number; token: number },
): void {
  const { mask, kept } = model.batch.tokens;
  if (kept === undefined || mask?.[token] === 0) return;
  model.evaluate(row, token);
  addMeans(sums.means.mask, model, token);
}

/** Adds a trained token, whose chain is filled, to the sums of its micro-batch. */
export function addToken(sums: MicroBatchSums, model: StepModel, at: { row: number; token: number }): void {
  const { chain, batch, lacks } = model;
  const { entropy, mask, kept } = batch.tokens;
  addMeans(sums.means.kept, model, at.token);
  if (kept !== undefined && mask?.[at.token] !== 0) addMeans(sums.means.mask, model, at.token);
  if (lacks.aggregation.length > 0) return;
  const divisor = model.divisorOf(at.row);
  if (entropy !== undefined) add(sums.entropy, entropy[at.token]! / divisor, 0);
  const { referenceLogProb } = batch.tokens;
  if (referenceLogProb !== undefined && batch.step.kl?.placement === 'loss' && lacks.kl.length === 0) {
    const klDivisor = model.klDivisorOf(at.row);
    add(sums.klLoss, chain.kl.value.value / klDivisor, errorOf(chain.kl.value) / klDivisor);
  }
  if (lacks.loss.length > 0) return;
  addLoss(sums, chain, { divisor, isWeighted: model.isWeighted });
}

function addMeans(sums: TokenSums, { chain, batch, arithmetic, lacks }: StepModel, token: number): void {
  const { rolloutLogProb, oldLogProb, logProb } = batch.tokens;
  const { unit } = arithmetic;
  sums.tokens++;
  const { logRatio } = chain.state;
  if (lacks.ratio.length === 0) add(sums.approxKl, -logRatio, unit * Math.abs(logRatio));
  if (rolloutLogProb !== undefined && lacks.ratio.length === 0) {
    const gap = rolloutLogProb[token]! - (oldLogProb ?? logProb)![token]!;
    add(sums.rolloutKl, gap, unit * Math.abs(gap));
  }
  if (lacks.loss.length === 0) countSide(sums, chain.loss.side);
}

function countSide(sums: TokenSums, side: number): void {
  if (side === SIDE.clip) sums.clipped++;
  else if (side === SIDE.lower) sums.lower++;
  else if (side === SIDE.undecided) sums.undecided++;
}

function addLoss(
  sums: MicroBatchSums,
  { loss: { loss }, weight }: TokenChain,
  { divisor, isWeighted: weighted }: { divisor: number; isWeighted: boolean },
): void {
  const factor = weighted ? weight.value : 1;
  const most = weighted ? weight.high : 1;
  const spread = weighted ? Math.abs(loss.value) * errorOf(weight) : 0;
  add(sums.policyLoss, (loss.value * factor) / divisor, (errorOf(loss) * most + spread) / divisor);
}

/**
 * How far a trainer's sum may be off: the errors of its terms, the additions, and eight roundings of each term (products with
 * mask, weight, coefficient and scale, and the divisions of row, rows, ranks and accumulation).
 */
export function errorOfSum({ error, size, count }: Sum, arithmetic: StepArithmetic): number {
  return error + sumError(count, size, 8, arithmetic);
}
