/**
 * Discounted sums over the tokens of a response: returns, and generalised advantages if there are values. The trainer sums token by
 * token from the last, or in blocks with powers of γλ. The derivation is in docs/explanation/error-bounds.md, "Sums over tokens".
 */

import { type Arithmetic, FLOAT64, type Forms } from '../../arithmetic/arithmetic.ts';
import { emptyColumn, put, radiusAt } from '../../arithmetic/interval.ts';
import { type StageKind, sequencesOf } from './stage.ts';
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

/**
 * See {@link Accumulate}. Sums of the tokens of the mask; 0 for other tokens. All tokens are marked if a sum of sizes may leave the
 * range, or lose every digit.
 */
export const ACCUMULATE: StageKind<Accumulate> = {
  text({ discount, lambda, values, masked }) {
    const what = values ? `generalised advantage, lambda ${lambda},` : 'return,';
    return `${what} discount ${discount}, tokens outside the mask: ${masked}`;
  },
  run({ discount, lambda, values, masked }, chain, reward) {
    const { offset, mask, column } = sequencesOf(chain);
    const { arithmetic, forms, isExact } = chain;
    const sums = emptyColumn(mask.length, isExact);
    const V = values ? column('value') : undefined;
    const factor = discount * lambda;
    const errors = isExact ? undefined : new SumErrors(factor, arithmetic);
    const unit = arithmetic.unit + FLOAT64.unit;
    let [sum, next, nextRadius] = [0, 0, 0];
    let isBounded = true;
    forEachBackward(
      { offset, mask, masked },
      {
        start() {
          sum = next = nextRadius = 0;
          errors?.start();
        },
        token(t, counts) {
          const r = counts ? reward.value[t]! : 0;
          const own = V !== undefined && counts ? V.value[t]! : 0;
          const [ahead, carried] = [discount * next, factor * sum];
          const delta = r + ahead - own;
          sum = delta + carried;
          next = own;
          if (errors === undefined) {
            if (mask[t] !== 0) sums.value[t] = sum;
            return;
          }
          const ownRadius = V !== undefined && counts ? radiusAt(V, t) : 0;
          // Without values there is no difference to round.
          const sizes = V === undefined ? 0 : 4 * Math.abs(ahead) + 2 * Math.abs(r) + 2 * Math.abs(own);
          const radius =
            (counts ? radiusAt(reward, t) : 0) + ownRadius + discount * nextRadius + unit * sizes;
          nextRadius = ownRadius;
          errors.add(delta, carried, radius);
          isBounded &&= errors.isBounded();
          if (mask[t] === 0) return;
          const error = errors.error(forms);
          put(sums, t, sum, sum - error, sum + error);
        },
      },
    );
    if (!isBounded) chain.overflow.fill(1);
    return sums;
  },
};

/**
 * Visits the tokens that enter the sums, from the last of a response to its first. `start` is called where a sum starts;
 * `counts` is false for a token with reward and value 0.
 */
function forEachBackward(
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

/** Tokens that a trainer sums at once: the length of a block of slime's scan. */
const BLOCK = 128;

/** Roundings of every term of a block: a power of γλ, the product with it, the last additions. */
const TERM_ROUNDINGS = 8;

/** Roundings of the sum that a block starts from, beside those of the power of γλ. */
const CARRY_ROUNDINGS = 5;

/** What rounding can make of the sum at a token, from the last token of a response to its first. */
class SumErrors {
  #value = 0;
  /** The sum of the terms' sizes. */
  #size = 0;
  readonly #factor: number;
  /** The factor of a term one block away. */
  readonly #farFactor: number;
  readonly #unit: number;
  readonly #arithmetic: Arithmetic;
  /** 1 if products with γλ round. */
  readonly #rounds: 0 | 1;
  /** Sizes of the last {@link BLOCK} terms, and their sum. */
  readonly #window = new Float64Array(BLOCK);
  #windowSize = 0;
  /** The sum of the sizes, each times its distance. */
  #sizeByDistance = 0;
  /** What the errors of rewards, values and differences add up to. */
  #inherited = 0;
  #sequential = 0;
  /** The largest error that a block passes on. */
  #passedOn = 0;
  #terms = 0;
  #tokens = 0;

  constructor(factor: number, arithmetic: Arithmetic) {
    this.#factor = factor;
    this.#farFactor = factor ** BLOCK;
    this.#unit = arithmetic.unit + FLOAT64.unit;
    this.#arithmetic = arithmetic;
    this.#rounds = this.#factor === 0 || this.#factor === 1 ? 0 : 1;
  }

  start(): void {
    this.#value = this.#size = this.#windowSize = this.#sizeByDistance = 0;
    this.#inherited = this.#sequential = this.#passedOn = 0;
    this.#terms = this.#tokens = 0;
    this.#window.fill(0);
  }

  /** Adds a term, of which `radius` is not known, to what the later tokens carry to it. */
  add(delta: number, carried: number, radius: number): void {
    if (this.#tokens > 0) this.#passedOn = Math.max(this.#passedOn, this.#errorPassedOn());
    const factor = this.#factor;
    const size = Math.abs(delta) + radius;
    this.#value = delta + carried;
    this.#inherited = radius + factor * this.#inherited;
    const added = size === 0 || carried === 0 ? 0 : Math.abs(this.#value);
    const rounding = this.#unit * (2 * this.#rounds * Math.abs(carried) + added);
    this.#sequential = rounding + factor * this.#sequential;
    this.#sizeByDistance = factor * (this.#sizeByDistance + this.#size);
    this.#size = size + factor * this.#size;
    const slot = this.#tokens % BLOCK;
    this.#windowSize = size + factor * this.#windowSize - this.#farFactor * this.#window[slot]!;
    this.#window[slot] = size;
    this.#tokens += 1;
    if (size !== 0) this.#terms += 1;
  }

  /** False if a sum of sizes may leave the range, or if so many roundings may lose every digit. */
  isBounded(): boolean {
    return this.#size < this.#arithmetic.overflow && 6 * this.#unit * this.#depth() < 1;
  }

  #depth(): number {
    return this.#tokens + Math.min(this.#tokens, BLOCK);
  }

  /** How far the trainer's sum may be from the value. */
  error(forms: Forms): number {
    if (this.#size === 0) return 0;
    // Roundings of what earlier roundings have changed.
    const grown = 1 + 4 * this.#unit * this.#depth();
    const own = forms === 'recipe' ? this.#sequential : Math.max(this.#sequential, this.#errorInBlocks());
    return this.#inherited + grown * own + this.#tokens * this.#arithmetic.tiny;
  }

  #errorInBlocks(): number {
    const blocks = Math.ceil(this.#tokens / BLOCK);
    const reach = Math.min(blocks, 1 / (1 - this.#farFactor));
    return this.#blockError() + reach * this.#passedOn;
  }

  /** Of the block that ends at this token: a sum of products in any order, and what it adds to. */
  #blockError(): number {
    const size = Math.max(0, this.#windowSize) + 2 ** -45 * this.#size;
    const roundings = Math.min(BLOCK, this.#terms) + TERM_ROUNDINGS;
    const ofPowers = this.#rounds * Math.min(this.#sizeByDistance, BLOCK * size);
    return this.#unit * (roundings * size + ofPowers + Math.abs(this.#value));
  }

  #errorPassedOn(): number {
    const ofPower = BLOCK * this.#rounds + CARRY_ROUNDINGS;
    return this.#blockError() + this.#unit * ofPower * Math.abs(this.#value);
  }
}
