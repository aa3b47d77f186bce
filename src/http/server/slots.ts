import { EchelonError } from '../../core/errors.ts';

/** Counts what each caller has open at once. */
export interface Slots {
  /** Takes a place for a caller; the answer gives it back. Throws EchelonError `rate-limited` if none is free. */
  take(caller: string): () => void;
  /** Whether the caller has a place. */
  has(caller: string): boolean;
}

/**
 * Places for each caller, so many, and in `all` for all callers together; `refusal` says of what there may be no more.
 */
export function createSlots(
  most: number,
  refusal: string,
  all: { most: number; refusal: string } = { most: Number.POSITIVE_INFINITY, refusal },
): Slots {
  const taken = new Map<string, number>();
  let total = 0;
  return {
    has: (caller) => taken.has(caller),
    take(caller) {
      const count = taken.get(caller) ?? 0;
      if (count >= most) throw new EchelonError('rate-limited', refusal);
      if (total >= all.most) throw new EchelonError('rate-limited', all.refusal);
      taken.set(caller, count + 1);
      total += 1;
      return () => {
        total -= 1;
        const left = (taken.get(caller) ?? 1) - 1;
        if (left === 0) taken.delete(caller);
        else taken.set(caller, left);
      };
    },
  };
}
