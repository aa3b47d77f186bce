/**
 * What a baseline of single tokens can be in the trainer's arithmetic, for every order of summation. The derivation is in
 * docs/explanation/error-bounds.md, "Baselines of tokens".
 */

import { type Arithmetic, FLOAT64 } from '../../arithmetic/arithmetic.ts';
import { blurOf, emptyColumn, type IntervalColumn, keep, put, radiusOf } from '../../arithmetic/interval.ts';
import { forEachPlace, type SubtractTokenBaseline } from './subtract-token-baseline.ts';
import type { TokenSequences } from './token-sequences.ts';

/** Roundings of an exponential: the libraries in use stay within two units in the last place. */
const EXP_ROUNDINGS = 4.1;

interface Input {
  readonly sequences: TokenSequences<IntervalColumn>;
  readonly x: IntervalColumn;
  readonly arithmetic: Arithmetic;
  /** Marked for the tokens of a response if nothing can be said of any of them. */
  readonly overflow: Uint8Array;
}

/** Returns less the reward of a greedy response: one rounding of the difference; 0 for tokens outside the mask. */
export function boundGreedyReward({ sequences, x, arithmetic }: Omit<Input, 'overflow'>): IntervalColumn {
  const b = sequences.column('rewardBaseline');
  const out = emptyColumn(x);
  for (let t = 0; t < out.value.length; t++) {
    if (sequences.mask[t] === 0) continue;
    const [low, high] = [x.low[t]! - b.high[t]!, x.high[t]! - b.low[t]!];
    const blur = blurOf(low, high, 1, arithmetic) + 2 ** -51 * Math.abs(b.value[t]!);
    put(out, t, x.value[t]! - b.value[t]!, low - blur, high + blur);
  }
  return out;
}

/** Bounds {@link SubtractTokenBaseline}. A token whose divisor may be 0 can have any value. */
export function boundTokenBaseline(stage: SubtractTokenBaseline, input: Input): IntervalColumn {
  const { sequences, x, arithmetic, overflow } = input;
  const { mask, offset } = sequences;
  const W = boundPathWeights(stage, input);
  const radius = radiusOf(x);
  const out = emptyColumn(x);
  const isAny = new Uint8Array(mask.length);
  for (let t = 0; t < mask.length; t++) if (mask[t] !== 0) keep(out, x, t);
  forEachPlace(stage, sequences, (tokens, compared) => {
    const { isOpen, value, low, high } = boundMean(tokens, {
      x,
      radius,
      W,
      epsilon: stage.epsilon,
      arithmetic,
    });
    for (const t of compared) {
      if (isOpen) isAny[t] = 1;
      const [least, most] = [x.low[t]! - high, x.high[t]! - low];
      const own = 2 ** -51 * (Math.abs(value) + Math.abs(x.value[t]!));
      const blur = blurOf(least, most, 1, arithmetic) + own;
      put(out, t, x.value[t]! - value, least - blur, most + blur);
    }
  });
  for (let row = 0; row + 1 < offset.length; row++) {
    const ends = [offset[row]!, offset[row + 1]!] as const;
    const isKnown = (t: number): boolean => mask[t] !== 0 && isAny[t] === 0;
    if (!someBetween(ends, isKnown)) overflow.fill(1, ...ends);
  }
  return out;
}

function someBetween([from, to]: readonly [number, number], is: (t: number) => boolean): boolean {
  for (let t = from; t < to; t++) if (is(t)) return true;
  return false;
}

/** The sums of 1 − 2π + Σπ², each with an exponential, two sums and up to two products with the rollout's weight. */
function boundPathWeights(
  { rolloutWeights }: SubtractTokenBaseline,
  { sequences, arithmetic }: Input,
): IntervalColumn {
  const { mask, offset, column } = sequences;
  const { tiny } = arithmetic;
  const unit = arithmetic.unit + FLOAT64.unit;
  const logProb = column('logProb');
  const squares = column('squaredProbabilities');
  const rollout = rolloutWeights ? column('rolloutWeight') : undefined;
  const [ofLogProb, ofSquares] = [radiusOf(logProb), radiusOf(squares)];
  const ofRollout = rollout && radiusOf(rollout);
  const W = emptyColumn(logProb);
  for (let row = 0; row + 1 < offset.length; row++) {
    let [sum, error, size, terms] = [0, 0, 0, 0];
    for (let t = offset[row]!; t < offset[row + 1]!; t++) {
      if (mask[t] === 0) continue;
      const p = Math.exp(logProb.value[t]!);
      const relative = EXP_ROUNDINGS * unit + Math.expm1(ofLogProb[t]!);
      let w = 1 - 2 * p + squares.value[t]!;
      let off = 2 * p * relative + ofSquares[t]! + 2 * tiny;
      off += unit * (Math.abs(1 - 2 * p) + Math.abs(w) + 2 * off);
      if (rollout !== undefined) {
        const [rho, ofRho] = [Math.abs(rollout.value[t]!), ofRollout![t]!];
        const square = rho * rho;
        const ofSquare = 2 * rho * ofRho + ofRho * ofRho;
        const grown = (square + ofSquare) * (Math.abs(w) + off);
        off = off * square + ofSquare * (Math.abs(w) + off) + 2.1 * unit * grown + 2 * tiny;
        w *= square;
      }
      sum += w;
      error += off;
      size += Math.abs(w) + off;
      terms += 1;
      const grown = terms * unit < 1 ? (terms - 1) * unit * (1 + terms * unit) : Number.POSITIVE_INFINITY;
      const blur = error + grown * size;
      put(W, t, sum, sum - blur, sum + blur);
    }
  }
  return W;
}

interface Place {
  readonly x: IntervalColumn;
  readonly radius: Float64Array;
  readonly W: IntervalColumn;
  readonly epsilon: number;
  readonly arithmetic: Arithmetic;
}

/** The weighted mean of the tokens at a place. `isOpen`: its divisor may be 0, so that it can be any number. */
function boundMean(tokens: readonly number[], place: Place) {
  const { x, radius, W, epsilon, arithmetic } = place;
  let [sum, weight, least, sizes, products, inherited] = [0, epsilon, epsilon, epsilon, 0, 0];
  for (const t of tokens) {
    const size = Math.max(Math.abs(W.low[t]!), Math.abs(W.high[t]!));
    sum += x.value[t]! * W.value[t]!;
    weight += W.value[t]!;
    least += W.low[t]!;
    sizes += size;
    products += (Math.abs(x.value[t]!) + radius[t]!) * size;
    inherited += radius[t]! * size;
  }
  // A product, the additions, and ε with its sum.
  const unit = arithmetic.unit + FLOAT64.unit;
  const rounding = (tokens.length + 2) * unit * (1 + (tokens.length + 2) * unit);
  const divisor = least - rounding * sizes - tokens.length * arithmetic.tiny;
  const value = sum / weight;
  if (!(divisor > 0) || rounding >= 0.5)
    return { isOpen: true, value, low: -arithmetic.overflow / 4, high: arithmetic.overflow / 4 };
  const [low, high] = [extreme(tokens, place, -1, value), extreme(tokens, place, 1, value)];
  const largest = Math.max(Math.abs(low), Math.abs(high));
  const off =
    (inherited + rounding * (products + sizes * largest) + tokens.length * arithmetic.tiny) / divisor;
  const blur = off + unit * (largest + off) + arithmetic.tiny;
  return { isOpen: false, value, low: low - blur, high: high + blur };
}

/**
 * The largest (sign 1) or smallest weighted mean for weights within their intervals. A weight at its upper end pulls the mean
 * towards its value, so each step takes the ends that pull the way of `sign`, until the mean moves no farther.
 */
function extreme(tokens: readonly number[], { x, W, epsilon }: Place, sign: 1 | -1, start: number): number {
  let mean = start;
  for (;;) {
    let [sum, weight] = [0, epsilon];
    for (const t of tokens) {
      const w = sign * (x.value[t]! - mean) > 0 ? W.high[t]! : W.low[t]!;
      sum += x.value[t]! * w;
      weight += w;
    }
    const next = sum / weight;
    if (!(sign * (next - mean) > 2 ** -50 * Math.abs(mean))) return sign * (next - mean) > 0 ? next : mean;
    mean = next;
  }
}
