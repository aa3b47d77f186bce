/**
 * The arithmetic in which a trainer computed: unit roundoff, rounding, and the lattice on which its numbers lie.
 */

/** A format of 16 bits. */
export type HalfPrecision = 'bfloat16' | 'float16';

/**
 * The arithmetic of the reported columns. `bfloat16-output`, `float16-output`: computed in float32, and only the result was
 * rounded to 16 bits.
 */
export type Precision = 'float32' | 'float64' | HalfPrecision | `${HalfPrecision}-output`;

/**
 * `recipe`: the forms of verl-agent's code, run by torch on the CPU: means by division, deviations about the mean or in
 * double precision. `any`: every form that libraries use (any-form.ts).
 */
export type Forms = 'recipe' | 'any';

/**
 * Additions on the longest path of a sum over tokens. Libraries sum in blocks, in pairs or in trees of threads, each at
 * most a few thousand deep; nothing sums millions of tokens one by one in float32.
 */
export const MAX_SUM_DEPTH = 4160;

/** One binary floating-point format, as far as the error bounds need it. */
export interface Arithmetic {
  readonly name: Precision;
  /** Unit roundoff u: a rounded result is the exact one times (1 + d), |d| <= u. */
  readonly unit: number;
  /** Bits of the significand, the hidden one included. */
  readonly digits: number;
  /** Sums and squares at or above this may overflow on the way; nothing is said about them. */
  readonly overflow: number;
  /** Rounds a float64 number to this format, to nearest, ties to even. */
  readonly round: (x: number) => number;
  /** Unit roundoff of the conversion of the results to the reported format. */
  readonly reportUnit: number;
  /** Below the smallest number of the format there is rounding that no relative bound covers. */
  readonly tiny: number;
  /** Numbers of usual size can leave the range of the reported format: an infinity may be right. */
  readonly isNarrow?: boolean;
}

/** IEEE 754 binary32: what the recipes compute in. */
export const FLOAT32: Arithmetic = {
  name: 'float32',
  unit: 2 ** -24,
  digits: 24,
  overflow: 2 ** 125,
  round: Math.fround,
  reportUnit: 0,
  tiny: 2 ** -148,
};

/** IEEE 754 binary64: trainers that compute in double precision and report float32. */
export const FLOAT64: Arithmetic = {
  name: 'float64',
  unit: 2 ** -53,
  digits: 53,
  overflow: 2 ** 1000,
  round: (x) => x,
  reportUnit: FLOAT32.unit,
  tiny: 2 ** -148,
};

/** Numbers without roundings: for the values of a formula alone. */
export const EXACT: Arithmetic = { ...FLOAT64, unit: 0, overflow: Number.POSITIVE_INFINITY, tiny: 0 };

/**
 * bfloat16: float32 with 8 bits of significand. A trainer rounds every step to it, or computes some steps in float32, as
 * torch does inside a sum: then the last step rounds by both units.
 */
export const BFLOAT16: Arithmetic = {
  name: 'bfloat16',
  unit: 2 ** -8,
  digits: 8,
  overflow: 2 ** 125,
  round: roundToBfloat16,
  reportUnit: 2 ** -22,
  tiny: 2 ** -132,
};

/** IEEE 754 binary16: 11 bits of significand and a small range. Its steps round as those of {@link BFLOAT16}. */
export const FLOAT16: Arithmetic = {
  name: 'float16',
  unit: 2 ** -11,
  digits: 11,
  overflow: 2 ** 13,
  round: roundToFloat16,
  reportUnit: 2 ** -22,
  tiny: 2 ** -23,
  isNarrow: true,
};

const ARITHMETICS: Readonly<Record<Precision, Arithmetic>> = {
  float32: FLOAT32,
  float64: FLOAT64,
  bfloat16: BFLOAT16,
  'bfloat16-output': {
    ...FLOAT32,
    name: 'bfloat16-output',
    reportUnit: BFLOAT16.unit,
    tiny: BFLOAT16.tiny,
  },
  float16: FLOAT16,
  'float16-output': {
    ...FLOAT32,
    name: 'float16-output',
    reportUnit: FLOAT16.unit,
    tiny: FLOAT16.tiny,
    isNarrow: true,
  },
};

/** The names of all arithmetics. */
export const PRECISIONS = Object.keys(ARITHMETICS) as readonly Precision[];

/** The arithmetic that a batch states. */
export function arithmeticOf(precision: Precision): Arithmetic {
  return ARITHMETICS[precision];
}

const words = new Uint32Array(2);
const doubles = new Float64Array(words.buffer);

/**
 * The exponent e of the lowest set bit of x: x is an odd multiple of 2^e.
 * +Infinity for 0 (a multiple of everything) and -Infinity for what is not finite.
 */
export function lowestBitExponent(x: number): number {
  if (x === 0) return Number.POSITIVE_INFINITY;
  if (!Number.isFinite(x)) return Number.NEGATIVE_INFINITY;
  doubles[0] = x;
  const low = words[0] as number;
  const high = words[1] as number;
  const biased = (high >>> 20) & 0x7ff;
  const exponent = (biased === 0 ? 1 : biased) - 1075;
  if (low !== 0) return exponent + trailingZeros(low);
  const fraction = biased === 0 ? high & 0xfffff : (high & 0xfffff) | 0x100000;
  return exponent + 32 + trailingZeros(fraction);
}

/** The nearest bfloat16 number, ties to even; the ends of the range are those of float64. */
export function roundToBfloat16(x: number): number {
  return roundHigh(x, DROPPED.bfloat16);
}

/** Steps of the float16 numbers below the smallest normal one. */
const SUBNORMAL_STEP = 2 ** -24;
const SMALLEST_NORMAL = 2 ** -14;
/** From here on a number is rounded to infinity. */
const BEYOND_FLOAT16 = 65_520;

/** The nearest float16 number, ties to even. */
export function roundToFloat16(x: number): number {
  if (Math.abs(x) >= BEYOND_FLOAT16) return x < 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (Math.abs(x) >= SMALLEST_NORMAL) return roundHigh(x, DROPPED.float16);
  const steps = x / SUBNORMAL_STEP;
  const below = Math.floor(steps);
  const isAbove = steps - below > 0.5 || (steps - below === 0.5 && below % 2 !== 0);
  return (isAbove ? below + 1 : below) * SUBNORMAL_STEP;
}

/** Bits that a format of 16 bits lacks in the upper word of a float64; it has none of the lower word. */
const DROPPED: Readonly<Record<HalfPrecision, number>> = { bfloat16: 0x1fff, float16: 0x3ff };

function roundHigh(x: number, dropped: number): number {
  if (!Number.isFinite(x)) return x;
  doubles[0] = x;
  const high = words[1] as number;
  const [rest, half, last] = [high & dropped, (dropped + 1) / 2, dropped + 1];
  const isAbove = rest > half || (rest === half && (words[0] !== 0 || (high & last) !== 0));
  words[0] = 0;
  words[1] = (high & ~dropped) + (isAbove ? last : 0);
  return doubles[0];
}

/** True if x has no more digits than the format, or is NaN or infinite; the ends of the range are those of float64. */
export function hasDigitsOf(x: number, format: HalfPrecision): boolean {
  doubles[0] = x;
  return (words[0] === 0 && ((words[1] as number) & DROPPED[format]) === 0) || !Number.isFinite(x);
}

function trailingZeros(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}

const singles = new Float32Array(1);
const singleBits = new Int32Array(singles.buffer);

/** The next float32 above x. x must be finite and below the largest float32. */
export function nextFloat32(x: number): number {
  if (x === 0) return 2 ** -149;
  singles[0] = x;
  const bits = singleBits[0] as number;
  singleBits[0] = x > 0 ? bits + 1 : bits - 1;
  return singles[0] as number;
}
