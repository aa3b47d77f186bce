import { distance } from 'fastest-levenshtein';

/** The name that `typed` was probably meant to be: one that differs in case or in at most two letters. */
export function closest(typed: string, names: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = 3;
  for (const name of names) {
    const d = distance(typed.toLowerCase(), name.toLowerCase());
    if (d < bestDistance) {
      best = name;
      bestDistance = d;
    }
  }
  return best;
}
