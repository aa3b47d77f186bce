/**
 * The sum over tokens that share a factor, such as a denominator or a scale. In bfloat16 each token may be off by several percent, so that
 * no token shows a factor of 1.03. Their roundings are independent, and their sum is known far better.
 */

import { significant } from 'command-kit/number';
import { roundToBfloat16 } from '../../arithmetic/arithmetic.ts';
import { errorOf } from '../../arithmetic/interval.ts';
import type { Finding } from '../../report/report.ts';
import { stepFinding } from '../../report/step-findings.ts';
import type { StepArithmetic } from '../losses/arithmetic.ts';
import type { StepModel, TokenChain } from '../model/model.ts';
import { STAGES, type StageName } from '../model/step-report.ts';
import type { Comparison } from './stage.ts';

/** A reported column, and what is expected in its place. */
type Compared = Pick<Comparison, 'term' | 'size'> & { readonly reported: Float32Array | Uint8Array };

/**
 * Roundings that all tokens of a micro-batch share in a gradient coefficient: the denominator's own, and its division. A scale that is no
 * power of two adds its product, and a division by accumulation steps or ranks.
 */
function sharedRoundings({ layout, scaleOf }: StepModel): number {
  const scales = Array.from({ length: layout.microBatches }, (_, at) => scaleOf(at));
  return scales.every((scale) => Number.isInteger(Math.log2(scale))) ? 2 : 4;
}
/** √2: the tokens with one advantage share two independent roundings, that of its product with the shared factor, and the row's own divisor. */
const ROUNDINGS_OF_ADVANTAGE = Math.SQRT2;
/** Roundings of one value at most: more are an alternative, such as that of a token at a clip edge. */
const MAX_ROUNDINGS = 40;
/** Hoeffding's inequality for a chance of 10⁻⁹ on both sides. */
const DEVIATIONS = Math.sqrt(2 * Math.log(2e9));
/** Micro-batches whose sums are held apart; of more, only the step has one. */
const MAX_APART = 256;
/** Tokens of one value round alike, and count as one; values beyond this number are joined, which only widens the bound. */
const CLASSES = 4096;

/** Sums over tokens. */
class FactorSums {
  /** Σ of sizes as expected, and Σ of the reported numbers with the expected sign. */
  expected = 0;
  reported = 0;
  /** Σ of the sizes of the parts that a value is the sum of. */
  size = 0;
  /** Errors that need not cancel: the rounding of the ratio, which is known, and those of the KL term. */
  drift = 0;
  /** Sizes of the independent errors by value, and by advantage. */
  readonly byValue = new Float64Array(CLASSES);
  readonly byAdvantage = new Float64Array(CLASSES);

  join(other: FactorSums): void {
    this.expected += other.expected;
    this.reported += other.reported;
    this.size += other.size;
    this.drift += other.drift;
    for (let at = 0; at < CLASSES; at++) {
      this.byValue[at]! += other.byValue[at]!;
      this.byAdvantage[at]! += other.byAdvantage[at]!;
    }
  }

  /** How far the reported sum may be from the expected one. */
  bound({ unit }: StepArithmetic, shared: number): number {
    let squares = 0;
    for (let at = 0; at < CLASSES; at++) squares += this.byValue[at]! ** 2 + this.byAdvantage[at]! ** 2;
    return shared * unit * this.size + Math.abs(this.drift) + DEVIATIONS * Math.sqrt(squares);
  }
}

/** The tokens of a micro-batch, a rank or the step together: sums, and how far a right one may be off. */
export interface Place {
  readonly place: string;
  readonly expected: number;
  readonly reported: number;
  readonly bound: number;
}

/** The sums of one stage. */
export interface SharedFactor {
  add(microBatch: number, chain: TokenChain, token: number): void;
  places(): Place[];
  /** The first of micro-batches, ranks and the step whose sum is off; undefined if none is. */
  finding(): Finding | undefined;
}

/** Undefined if single tokens show as much: in float32, and for a KL value, whose roundings near 0 all have one sign. */
export function sharedFactor(
  model: StepModel,
  { stage, reported, isShared, term, size }: Comparison & { readonly stage: StageName },
): SharedFactor | undefined {
  const { arithmetic, batch, layout } = model;
  if (arithmetic.name !== 'bfloat16' || !isShared || reported === undefined) return undefined;
  const shared = stage === 'gradient' ? sharedRoundings(model) : 0;
  const isApart = layout.microBatches <= MAX_APART;
  const sums = Array.from({ length: isApart ? layout.microBatches : 1 }, () => new FactorSums());
  const addTo = adder(stage, { reported, term, size }, arithmetic);
  const places = () =>
    (isApart ? placesOf(batch.step.microBatches, sums) : [{ place: 'the step', own: sums[0]! }]).map(
      ({ place, own }) => ({
        place,
        expected: own.expected,
        reported: own.reported,
        bound: own.bound(arithmetic, shared),
      }),
    );
  return {
    add: (microBatch, chain, token) => addTo(sums[isApart ? microBatch : 0]!, chain, token),
    places,
    finding() {
      const off = places().find((one) => Math.abs(one.reported - one.expected) > one.bound);
      if (off === undefined) return undefined;
      const { place, expected } = off;
      const [factor, bound] = [significant(off.reported / expected, 4), significant(off.bound / expected, 2)];
      const text = `${STAGES[stage]}: the numbers of ${place} add up to ${factor} times what is expected, and rounding gives 1 ± ${bound}.`;
      return stepFinding('shared-factor', text);
    },
  };
}

/** Adds a token to sums. */
function adder(stage: StageName, { reported, term, size }: Compared, { unit }: StepArithmetic) {
  const isGradient = stage === 'gradient';
  return (own: FactorSums, chain: TokenChain, token: number): void => {
    const expected = term(chain, token);
    const { value, low, high } = expected;
    const most = MAX_ROUNDINGS * unit * size(chain);
    // A token that may be clipped or not, or have a KL part or not, has no one value.
    if ((low <= 0 && high >= 0) || !(errorOf(expected) <= most)) return;
    const sign = Math.sign(value);
    own.expected += Math.abs(value);
    own.reported += sign * reported[token]!;
    own.size += size(chain);
    // K roundings of u each are the half-width K·u·size, and independent ones add up as √K·u·size.
    own.byValue[classOf(value)]! += Math.sqrt(errorOf(expected) * unit * size(chain));
    if (isGradient || stage === 'loss')
      own.byAdvantage[classOf(chain.state.advantage)]! += ROUNDINGS_OF_ADVANTAGE * unit * size(chain);
    const part = sign * (isGradient ? chain.policyPart.value : value);
    if (stage === 'weight') own.drift += roundToBfloat16(value) - value;
    else own.drift += part * (roundingOfRatio(chain) + roundingOfWeight(chain));
    if (isGradient) own.drift += errorOf(chain.klPart);
  };
}

/** How far the ratio moves when it is rounded to bfloat16: of log-ratios near 0 all of it may have one sign. */
function roundingOfRatio({ state: { ratio, logRatio } }: TokenChain): number {
  if (!Number.isFinite(ratio) || ratio === 0) return 0;
  const isOfToken = Math.abs(Math.exp(logRatio) - ratio) <= 1e-12 * ratio;
  const rounded = roundToBfloat16(isOfToken ? Math.exp(roundToBfloat16(logRatio)) : ratio);
  return rounded / ratio - 1;
}

/** The same of a rollout weight that is recomputed. */
function roundingOfWeight({ weight: { value, low, high } }: TokenChain): number {
  return value > 0 && high > low ? roundToBfloat16(value) / value - 1 : 0;
}

/** The micro-batches, the ranks if there are several, and the step. */
function placesOf(microBatches: readonly { readonly rank: number }[], sums: readonly FactorSums[]) {
  const ranks = [...new Set(microBatches.map(({ rank }) => rank))];
  const ofRanks = ranks.map((rank) => ({
    place: `rank ${rank}`,
    own: joined(sums.filter((_, at) => microBatches[at]!.rank === rank)),
  }));
  return [
    ...sums.map((own, at) => ({ place: `micro-batch ${at}`, own })),
    ...(ranks.length > 1 ? ofRanks : []),
    { place: 'the step', own: joined(sums) },
  ];
}

function joined(sums: readonly FactorSums[]): FactorSums {
  const all = new FactorSums();
  for (const one of sums) all.join(one);
  return all;
}

const number = new Float64Array(1);
const bits = new Uint32Array(number.buffer);

/** A class of a value, by its bits. */
function classOf(value: number): number {
  number[0] = value;
  return Math.imul(bits[0]! ^ bits[1]!, 0x9e3779b1) >>> 20;
}
