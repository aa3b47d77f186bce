/**
 * What a discounted sum over tokens can give in the trainer's arithmetic: token by token from the last, or in blocks with
 * powers of γλ. The derivation is in docs/explanation/error-bounds.md, "Sums over tokens".
 */

import type { Forms } from '../../arithmetic/arithmetic.ts';
import { type Arithmetic, FLOAT64 } from '../../arithmetic/arithmetic.ts';
import type { IntervalColumn } from '../../arithmetic/interval.ts';
import { type Accumulate, forEachBackward } from './accumulate.ts';
import type { TokenSequences } from './token-sequences.ts';

/** Tokens that a trainer sums at once: the length of a block of slime's scan. */
const BLOCK = 128;

/** Roundings of every term of a block: a power of γλ, the product with it, the last additions. */
const TERM_ROUNDINGS = 8;

/** Roundings of the sum that a block starts from, beside those of the power of γλ. */
const CARRY_ROUNDINGS = 5;

/** Bounds the sums of the tokens of the mask; 0 for other tokens. */
export function boundAccumulate(
  stage: Accumulate,
  input: {
    readonly sequences: Pick<TokenSequences<IntervalColumn>, 'offset' | 'mask' | 'column'>;
    readonly reward: IntervalColumn;
    readonly arithmetic: Arithmetic;
    /** `recipe`: token by token only. */
    readonly forms: Forms;
    /** Marked for all tokens if a sum of sizes may leave the range, or lose every digit. */
    readonly overflow: Uint8Array;
  },
): IntervalColumn {
  const { sequences, reward, arithmetic, forms, overflow } = input;
  const { offset, mask } = sequences;
  const column = () => new Float64Array(mask.length);
  const sums = { value: column(), low: column(), high: column() };
  const V = stage.values ? sequences.column('value') : undefined;
  const sum = new RunningSum(stage.discount, stage.lambda, arithmetic);
  let isBounded = true;
  forEachBackward(
    { offset, mask, masked: stage.masked },
    {
      start: () => sum.start(),
      token(t, counts) {
        if (counts) sum.add(reward.value[t]!, radiusAt(reward, t), V?.value[t], V && radiusAt(V, t));
        else sum.add(0, 0, V && 0, V && 0);
        isBounded &&= sum.isBounded();
        if (mask[t] === 0) return;
        const error = sum.error(forms);
        sums.value[t] = sum.value;
        sums.low[t] = sum.value - error;
        sums.high[t] = sum.value + error;
      },
    },
  );
  if (!isBounded) overflow.fill(1);
  return sums;
}

function radiusAt({ value, low, high }: IntervalColumn, t: number): number {
  return Math.max(value[t]! - low[t]!, high[t]! - value[t]!);
}

/** The sum at a token, from the last token of a response to its first, and what rounding can make of it. */
class RunningSum {
  value = 0;
  /** The sum of the terms' sizes. */
  size = 0;
  readonly #discount: number;
  readonly #factor: number;
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
  #next = 0;
  #nextRadius = 0;

  constructor(discount: number, lambda: number, arithmetic: Arithmetic) {
    this.#discount = discount;
    this.#factor = discount * lambda;
    this.#unit = arithmetic.unit + FLOAT64.unit;
    this.#arithmetic = arithmetic;
    this.#rounds = this.#factor === 0 || this.#factor === 1 ? 0 : 1;
  }

  start(): void {
    this.value = this.size = this.#windowSize = this.#sizeByDistance = 0;
    this.#inherited = this.#sequential = this.#passedOn = 0;
    this.#terms = this.#tokens = this.#next = this.#nextRadius = 0;
    this.#window.fill(0);
  }

  /** Without values there is no difference to round. */
  add(reward: number, rewardRadius: number, value?: number, valueRadius = 0): void {
    const ahead = this.#discount * this.#next;
    const sizes = value === undefined ? 0 : 4 * Math.abs(ahead) + 2 * Math.abs(reward) + 2 * Math.abs(value);
    const radius = rewardRadius + valueRadius + this.#discount * this.#nextRadius + this.#unit * sizes;
    if (this.#tokens > 0) this.#passedOn = Math.max(this.#passedOn, this.#errorPassedOn());
    this.#addTerm(reward + ahead - (value ?? 0), radius);
    this.#next = value ?? 0;
    this.#nextRadius = valueRadius;
  }

  #addTerm(delta: number, radius: number): void {
    const factor = this.#factor;
    const carried = factor * this.value;
    const size = Math.abs(delta) + radius;
    this.value = delta + carried;
    this.#inherited = radius + factor * this.#inherited;
    const added = size === 0 || carried === 0 ? 0 : Math.abs(this.value);
    const rounding = this.#unit * (2 * this.#rounds * Math.abs(carried) + added);
    this.#sequential = rounding + factor * this.#sequential;
    this.#sizeByDistance = factor * (this.#sizeByDistance + this.size);
    this.size = size + factor * this.size;
    const slot = this.#tokens % BLOCK;
    this.#windowSize = size + factor * this.#windowSize - factor ** BLOCK * this.#window[slot]!;
    this.#window[slot] = size;
    this.#tokens += 1;
    if (size !== 0) this.#terms += 1;
  }

  /** False if a sum of sizes may leave the range, or if so many roundings may lose every digit. */
  isBounded(): boolean {
    return this.size < this.#arithmetic.overflow && 6 * this.#unit * this.#depth() < 1;
  }

  #depth(): number {
    return this.#tokens + Math.min(this.#tokens, BLOCK);
  }

  /** How far the trainer's sum may be from the value. */
  error(forms: Forms): number {
    if (this.size === 0) return 0;
    // Roundings of what earlier roundings have changed.
    const grown = 1 + 4 * this.#unit * this.#depth();
    const own = forms === 'recipe' ? this.#sequential : Math.max(this.#sequential, this.#errorInBlocks());
    return this.#inherited + grown * own + this.#tokens * this.#arithmetic.tiny;
  }

  #errorInBlocks(): number {
    const blocks = Math.ceil(this.#tokens / BLOCK);
    const reach = Math.min(blocks, 1 / (1 - this.#factor ** BLOCK));
    return this.#blockError() + reach * this.#passedOn;
  }

  /** Of the block that ends at this token: a sum of products in any order, and what it adds to. */
  #blockError(): number {
    const size = Math.max(0, this.#windowSize) + 2 ** -45 * this.size;
    const roundings = Math.min(BLOCK, this.#terms) + TERM_ROUNDINGS;
    const ofPowers = this.#rounds * Math.min(this.#sizeByDistance, BLOCK * size);
    return this.#unit * (roundings * size + ofPowers + Math.abs(this.value));
  }

  #errorPassedOn(): number {
    const ofPower = BLOCK * this.#rounds + CARRY_ROUNDINGS;
    return this.#blockError() + this.#unit * ofPower * Math.abs(this.value);
  }
}
