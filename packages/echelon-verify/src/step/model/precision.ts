import { hasDigitsOf } from '../../arithmetic/arithmetic.ts';

/** Values that show the format well enough: of fewer, or of equal ones, all may be short numbers by chance. */
const MIN_DISTINCT = 16;

/** True if every value is a bfloat16 number, and there are enough distinct ones. */
export function isBfloat16(column: Float32Array): boolean {
  const distinct = new Set<number>();
  for (const value of column) {
    if (!hasDigitsOf(value, 'bfloat16')) return false;
    if (distinct.size < MIN_DISTINCT) distinct.add(value);
  }
  return distinct.size >= MIN_DISTINCT;
}
