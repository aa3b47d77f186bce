/** Baselines of single tokens: a mean of the group's returns at one place, weighted by the variance of the path that led there. */

import { idCount } from '../sets/steps.ts';
import type { TokenSequences } from './token-sequences.ts';

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

/** x less the baseline, float64; 0 for tokens outside the mask. */
export function subtractTokenBaseline(
  stage: SubtractTokenBaseline,
  sequences: TokenSequences,
  x: Float64Array,
): Float64Array {
  const { mask } = sequences;
  const W = pathWeights(stage, sequences);
  const out = x.map((value, t) => (mask[t] === 0 ? 0 : value));
  forEachPlace(stage, sequences, (tokens, compared) => {
    let [sum, weight] = [0, stage.epsilon];
    for (const t of tokens) {
      sum += x[t]! * W[t]!;
      weight += W[t]!;
    }
    for (const t of compared) out[t] = x[t]! - sum / weight;
  });
  return out;
}

function pathWeights(
  { rolloutWeights }: SubtractTokenBaseline,
  { offset, mask, column }: TokenSequences,
): Float64Array {
  const [logProb, squares] = [column('logProb'), column('squaredProbabilities')];
  const rollout = rolloutWeights ? column('rolloutWeight') : undefined;
  const W = new Float64Array(mask.length);
  for (let row = 0; row + 1 < offset.length; row++) {
    let sum = 0;
    for (let t = offset[row]!; t < offset[row + 1]!; t++) {
      const w = 1 - 2 * Math.exp(logProb[t]!) + squares[t]!;
      if (mask[t] !== 0) sum += rollout === undefined ? w : w * rollout[t]! ** 2;
      W[t] = sum;
    }
  }
  return W;
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
