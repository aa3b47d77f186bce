/**
 * Equality of anchor observations, as the recipe has it: Python's equality of the hashable form. Numbers are
 * equal by value (1, 1.0 and true are one), "1" is another; a list and an array with the same elements are
 * equal; an array counts flattened, its shape and type do not matter; an object is the list of its pairs, keys
 * sorted.
 */

/** An observation as it stands in the file: any JSON value, or an integer that a double cannot hold. */
export type ObservationValue = unknown;

/**
 * The canonical text: two observations are equal exactly if their canonical texts are. It is JSON without
 * spaces, with true and false as 1 and 0, arrays flat, objects as sorted lists of pairs.
 */
export function canonicalText(value: ObservationValue): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      return Object.is(value, -0) ? '0' : String(value);
    case 'bigint':
      return String(value);
    case 'boolean':
      return value ? '1' : '0';
    case 'object':
      if (value === null) return 'null';
      if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
      return canonicalObject(value as Record<string, unknown>);
    default:
      throw new TypeError(`${typeof value} is not an observation`);
  }
}

function canonicalObject(value: Record<string, unknown>): string {
  const { ndarray } = value;
  if (Array.isArray(ndarray)) {
    return `[${(ndarray.flat(Number.POSITIVE_INFINITY) as unknown[]).map(canonicalText).join(',')}]`;
  }
  const pairs = Object.keys(value)
    .sort()
    .map((key) => `[${JSON.stringify(key)},${canonicalText(value[key])}]`);
  return `[${pairs.join(',')}]`;
}

/** What people see: a text observation as it is, anything else as its canonical text. */
export function labelOf(canonical: string): string {
  if (!canonical.startsWith('"')) return canonical;
  try {
    return JSON.parse(canonical) as string;
  } catch {
    // Written by another producer, as it was.
    return canonical;
  }
}
