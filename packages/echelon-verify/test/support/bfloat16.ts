/** Rounding to formats of 16 bits, independent of packages/echelon-verify/src, and machines that compute in them. */

import { type Machine, type Rounding, randomMachine } from './recipe.ts';

const single = new Float32Array(1);
const bits = new Uint32Array(single.buffer);

/** The nearest bfloat16 number, ties to even: the nearer of the two numbers around x. */
export function bfloat16(x: number): number {
  if (!Number.isFinite(x) || x === 0) return x;
  single[0] = x;
  bits[0]! &= 0xffff0000;
  // Towards 0 from x; rounding to float32 may have passed x.
  if (Math.abs(single[0]) > Math.abs(x)) bits[0]! -= 0x10000;
  const near = single[0];
  const nearIsEven = (bits[0]! & 0x10000) === 0;
  bits[0]! += 0x10000;
  const far = single[0];
  const difference = Math.abs(x - near) - Math.abs(far - x);
  if (difference !== 0) return difference < 0 ? near : far;
  return nearIsEven ? near : far;
}

/** The nearest float16 number, ties to even. */
export const float16: Rounding = Math.f16round;

/** A machine that rounds every step to 16 bits, every step to float32, or each to one of both. */
export function halfMachine(random: () => number, half: Rounding, forms: 'recipe' | 'any' = 'any'): Machine {
  const share = forms === 'any' ? [0, 0.5, 1][Math.floor(random() * 3)]! : 0;
  const round: Rounding = (x) => (random() < share ? Math.fround(x) : half(x));
  return randomMachine(random, round, forms);
}
