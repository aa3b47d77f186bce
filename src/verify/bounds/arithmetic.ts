/**
 * The arithmetic in which a trainer computed: unit roundoff, rounding, and the lattice on which its numbers lie.
 */

/** One binary floating-point format, as far as the error bounds need it. */
export interface Arithmetic {
  readonly name: 'float32' | 'float64';
  /** Unit roundoff u: a rounded result is the exact one times (1 + d), |d| <= u. */
  readonly unit: number;
  /** Bits of the significand, the hidden one included. */
  readonly digits: number;
  /** Sums and squares at or above this may overflow on the way; nothing is said about them. */
  readonly overflow: number;
  /** Rounds a float64 number to this format, to nearest, ties to even. */
  readonly round: (x: number) => number;
}

/** IEEE 754 binary32: what the recipes compute in. */
export const FLOAT32: Arithmetic = {
  name: 'float32',
  unit: 2 ** -24,
  digits: 24,
  overflow: 2 ** 125,
  round: Math.fround,
};

/** IEEE 754 binary64: trainers that compute in double precision and report float32. */
export const FLOAT64: Arithmetic = {
  name: 'float64',
  unit: 2 ** -53,
  digits: 53,
  overflow: 2 ** 1000,
  round: (x) => x,
};

/** Unit roundoff of the columns that are reported, which are float32 whatever the arithmetic was. */
export const REPORT_UNIT = FLOAT32.unit;

/** The arithmetic that a batch states (`estimator.precision`); float32 if it states none. */
export function arithmeticOf(precision: string | undefined): Arithmetic {
  return precision === 'float64' ? FLOAT64 : FLOAT32;
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
