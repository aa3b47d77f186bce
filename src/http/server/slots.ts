import { EchelonError } from '../../core/errors.ts';

/** Counts what each caller has open at once. */
export interface Slots {
  /** Takes a place for a caller; the answer gives it back. Throws EchelonError `rate-limited` if none is free. */
  take(caller: string): () => void;
}

/** Places for each caller, so many; `refusal` says of what there may be no more. */
export function createSlots(most: number, refusal: string): Slots {
  const taken = new Map<string, number>();
  return {
    take(caller) {
      const count = taken.get(caller) ?? 0;
      if (count >= most) throw new EchelonError('rate-limited', refusal);
      taken.set(caller, count + 1);
      return () => {
        const left = (taken.get(caller) ?? 1) - 1;
        if (left === 0) taken.delete(caller);
        else taken.set(caller, left);
      };
    },
  };
}
