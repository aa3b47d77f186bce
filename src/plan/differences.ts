import { canonicalJson, escapePointer } from '../schemas/json.ts';

/** A value that differs between two specs; undefined if a spec lacks it. */
export interface Difference {
  pointer: string;
  a: unknown;
  b: unknown;
}

/** The values that differ between two specs, by JSON pointer; a list counts as one value. */
export function differencesOf(a: unknown, b: unknown, at = ''): Difference[] {
  if (!isTree(a) || !isTree(b)) return canonicalJson(a) === canonicalJson(b) ? [] : [{ pointer: at, a, b }];
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  return keys.flatMap((key) => differencesOf(own(a, key), own(b, key), `${at}/${escapePointer(key)}`));
}

const own = (tree: Record<string, unknown>, key: string): unknown =>
  Object.hasOwn(tree, key) ? tree[key] : undefined;

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
