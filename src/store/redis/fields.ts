/** A hash of Redis; null is stored as an absent or empty field. */
export type Fields = Record<string, string>;

/** The value of a JSON field; undefined for an absent or empty one. */
export function json(text: string | undefined): unknown {
  return text === undefined || text === '' ? undefined : JSON.parse(text);
}

/** The number in a field; 0 for an absent one. */
export function count(text: string | undefined): number {
  return Number(text ?? 0);
}

/** The instant in a field, in ms since 1970; null for an absent one. */
export function time(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}
