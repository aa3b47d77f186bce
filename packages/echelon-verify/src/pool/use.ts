/** How much of the places each caller has used lately. */

/** A caller's time in its places; what it has used is forgiven at this rate of the time that passes. */
const FORGIVEN = 1 / 20;
/** Time in places, not forgiven yet, from which a caller has used more than its share. */
const HEAVY_MS = 15_000;
/** Callers whose use is remembered: those that used most. */
const MAX_REMEMBERED = 1_000;

/** See {@link createUse}. */
export interface Use {
  /** Whether the caller has used more than its share, as far as its places are given back. */
  isHeavy(name: string): boolean;
  /** The caller has a place from now on, until the answer is called. */
  begin(name: string): () => void;
}

/** Counts the time in places by name; `now` in ms. */
export function createUse(now: () => number): Use {
  const used = new Map<string, { ms: number; at: number }>();

  function leftOf(name: string): number {
    const { ms, at } = used.get(name) ?? { ms: 0, at: now() };
    return Math.max(0, ms - (now() - at) * FORGIVEN);
  }

  function forgetLeast(): void {
    if (used.size <= MAX_REMEMBERED) return;
    const [least] = [...used.keys()].toSorted((a, b) => leftOf(a) - leftOf(b));
    used.delete(least!);
  }

  return {
    isHeavy: (name) => leftOf(name) >= HEAVY_MS,
    begin(name) {
      const started = now();
      return () => {
        used.set(name, { ms: leftOf(name) + now() - started, at: now() });
        forgetLeast();
      };
    },
  };
}
