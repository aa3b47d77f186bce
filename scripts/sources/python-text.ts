/** What the generators write into Python files. */

/** A value as Python writes it. */
export function pythonValue(value: number | boolean | string | null): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return JSON.stringify(value);
  return Number.isInteger(value) ? String(value) : value.toExponential();
}

/** A name in snake case. */
export function snake(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
