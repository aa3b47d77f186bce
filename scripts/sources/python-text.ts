/** What the generators write into Python files. */

const OPENING = /^# Generated from .* by `npm run generate`\.\n/m;
const CLOSING = '# End of what is generated.\n';

/** The text of a Python file with other lines between its marks. Throws an Error if there are no marks. */
export function replaceGenerated(python: string, lines: string): string {
  const opening = OPENING.exec(python);
  const to = python.indexOf(CLOSING);
  if (opening === null || to === -1) throw new Error('the file has no marks for what is generated');
  return python.slice(0, opening.index + opening[0].length) + lines + python.slice(to);
}

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
