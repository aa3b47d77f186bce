/** Discounted sums over the tokens of a response: returns, and generalised advantages if there are values. */

import type { TokenSequences } from './token-sequences.ts';

/** What a token outside the mask does to the sum. */
export type MaskedTokens =
  /** Nothing: the tokens before and after it are neighbours. */
  | 'skip'
  /** As a token of the mask: its reward and value count. */
  | 'include'
  /** As a token with reward and value 0. */
  | 'zero'
  /** The sum starts again before it. */
  | 'reset';

/** x_t ← δ_t + γλ · x_{t+1} with δ_t = r_t + γ · V_{t+1} − V_t; without values V is 0. */
export interface Accumulate {
  readonly do: 'accumulate';
  readonly discount: number;
  readonly lambda: number;
  readonly values: boolean;
  readonly masked: MaskedTokens;
}

/** The sums of the tokens of the mask in float64; 0 for other tokens. */
export function accumulate(
  { discount, lambda, values, masked }: Accumulate,
  { offset, mask, column }: Pick<TokenSequences, 'offset' | 'mask' | 'column'>,
  reward: Float64Array,
): Float64Array {
  const sums = new Float64Array(reward.length);
  const V = values ? column('value') : undefined;
  let sum = 0;
  let next = 0;
  forEachBackward(
    { offset, mask, masked },
    {
      start() {
        sum = 0;
        next = 0;
      },
      token(t, counts) {
        const own = counts ? (V?.[t] ?? 0) : 0;
        const delta = (counts ? reward[t]! : 0) + discount * next - own;
        sum = delta + discount * lambda * sum;
        next = own;
        if (mask[t] !== 0) sums[t] = sum;
      },
    },
  );
  return sums;
}

/**
 * Visits the tokens that enter the sums, from the last of a response to its first. `start` is called where a sum starts;
 * `counts` is false for a token with reward and value 0.
 */
export function forEachBackward(
  { offset, mask, masked }: Pick<TokenSequences, 'offset' | 'mask'> & { readonly masked: MaskedTokens },
  visit: { start(): void; token(t: number, counts: boolean): void },
): void {
  for (let row = 0; row + 1 < offset.length; row++) {
    visit.start();
    for (let t = offset[row + 1]! - 1; t >= offset[row]!; t--) {
      if (mask[t] !== 0 || masked === 'include') visit.token(t, true);
      else if (masked === 'zero') visit.token(t, false);
      else if (masked === 'reset') visit.start();
    }
  }
}
