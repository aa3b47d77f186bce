/** Baselines of single tokens: a mean of the group's returns at one place, weighted by the variance of the path that led there. */

import { type Arithmetic, FLOAT64 } from '../../arithmetic/arithmetic.ts';
import { blurOf, emptyColumn, type IntervalColumn, keep, put, radiusOf } from '../../arithmetic/interval.ts';
import { idCount } from '../sets/steps.ts';
import { type Chain, type StageKind, sequencesOf } from './stage.ts';
import type { TokenSequences } from './token-sequences.ts';

/** Roundings of an exponential: the libraries in use stay within two units in the last place. */
const EXP_ROUNDINGS = 4.1;

/** What tokens of a group are compared with each other: those at one position of the response, or those trained as the j-th. */
export type TokenAlignment = 'position' | 'trained-token';

/** x_t ← x_t − Σ x·W / (Σ W + ε) over the tokens at one place of the group's responses; W_t = Σ_{u ≤ t} 1 − 2π_u + Σπ². */
export interface SubtractTokenBaseline {
  readonly do: 'subtract-token-baseline';
  readonly align: TokenAlignment;
  /** No baseline for the longest response beyond the length of the second longest, if it is the only one of its length. */
  readonly zeroTail: boolean;
  readonly epsilon: number;
  /** Multiply 1 − 2π + Σπ² by the square of the rollout's weight. */
  readonly rolloutWeights: boolean;
}

/** See {@link SubtractTokenBaseline}. A token whose divisor may be 0 can have any value; a response of such tokens is marked. */
export const SUBTRACT_TOKEN_BASELINE: StageKind<SubtractTokenBaseline> = {
  text({ align, zeroTail, rolloutWeights, epsilon }) {
    const places = align === 'position' ? 'at its position' : 'trained at its place';
    const tail = zeroTail ? ', none in the tail of the longest response' : '';
    const weights = rolloutWeights ? ', with squared rollout weights' : '';
    return `less the weighted mean of the group’s tokens ${places}${tail}${weights}, epsilon ${epsilon}`;
  },
  run(stage, chain, x) {
    const sequences = sequencesOf(chain);
    const { arithmetic, overflow } = chain;
    const { mask, offset } = sequences;
    const W = pathWeights(stage, sequences, chain);
    const radius = radiusOf(x);
    const out = emptyColumn(mask.length, chain.isExact);
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
  },
};

function someBetween([from, to]: readonly [number, number], is: (t: number) => boolean): boolean {
  for (let t = from; t < to; t++) if (is(t)) return true;
  return false;
}

/** The sums of 1 − 2π + Σπ², each with an exponential, two sums and up to two products with the rollout's weight. */
function pathWeights(
  { rolloutWeights }: SubtractTokenBaseline,
  { mask, offset, column }: TokenSequences<IntervalColumn>,
  { arithmetic, isExact }: Chain,
): IntervalColumn {
  const { tiny } = arithmetic;
  const unit = arithmetic.unit + FLOAT64.unit;
  const logProb = column('logProb');
  const squares = column('squaredProbabilities');
  const rollout = rolloutWeights ? column('rolloutWeight') : undefined;
  const [ofLogProb, ofSquares] = [radiusOf(logProb), radiusOf(squares)];
  const ofRollout = rollout && radiusOf(rollout);
  const W = emptyColumn(mask.length, isExact);
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

/**
 * Visits the trained tokens at each place of each group, and those of them that get the baseline. A group of one response has
 * none; by `trained-token`, a response without a trained token does not count.
 */
export function forEachPlace(
  { align, zeroTail }: Pick<SubtractTokenBaseline, 'align' | 'zeroTail'>,
  { offset, mask, group }: Pick<TokenSequences, 'offset' | 'mask' | 'group'>,
  visit: (tokens: readonly number[], compared: readonly number[]) => void,
): void {
  const trained = Array.from(group, (_, row) => trainedTokens(mask, offset[row]!, offset[row + 1]!));
  const rowsOf: number[][] = Array.from({ length: idCount('group', group) }, () => []);
  for (let row = 0; row < group.length; row++) rowsOf[group[row]!]!.push(row);
  for (const all of rowsOf) {
    const rows = align === 'position' ? all : all.filter((row) => trained[row]!.length > 0);
    if (rows.length < 2) continue;
    const tail = zeroTail ? longTail(rows, trained) : undefined;
    const places: { tokens: number[]; compared: number[] }[] = [];
    for (const row of rows) {
      trained[row]!.forEach((t, j) => {
        const place = align === 'position' ? t - offset[row]! : j;
        places[place] ??= { tokens: [], compared: [] };
        places[place].tokens.push(t);
        if (row !== tail?.row || place < tail.from) places[place].compared.push(t);
      });
    }
    for (const one of places) if (one !== undefined) visit(one.tokens, one.compared);
  }
}

function trainedTokens(mask: Uint8Array, from: number, to: number): number[] {
  const tokens: number[] = [];
  for (let t = from; t < to; t++) if (mask[t] !== 0) tokens.push(t);
  return tokens;
}

/** The only response of the greatest length, and the second greatest length; undefined if several have it. */
function longTail(rows: readonly number[], trained: readonly (readonly number[])[]) {
  const sorted = rows.toSorted((a, b) => trained[b]!.length - trained[a]!.length);
  const [first, second] = [sorted[0]!, sorted[1]!];
  const from = trained[second]!.length;
  return trained[first]!.length > from ? { row: first, from } : undefined;
}
