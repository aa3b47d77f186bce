import { distance } from 'fastest-levenshtein';

/**
 * The name that `text` most likely means, or undefined if no name is near. Near is equal but for case and separators, or
 * within a third of its letters (at least 2).
 */
export function nearestName(text: string, names: readonly string[]): string | undefined {
  if (text.length > 100) return undefined;
  const plain = simplify(text);
  let best: string | undefined;
  let least = Math.max(2, Math.floor(text.length / 3)) + 1;
  for (const name of names) {
    const candidate = simplify(name);
    const cost = candidate === plain ? 0 : distance(plain, candidate);
    if (cost < least && cost < candidate.length) {
      best = name;
      least = cost;
    }
  }
  return best;
}

function simplify(name: string): string {
  return name.toLowerCase().replace(/[_\-\s.]/g, '');
}
