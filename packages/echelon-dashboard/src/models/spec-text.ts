/** A problem of a text: the field (a JSON pointer; '' for the whole text), and its line if it is known. */
export interface Problem {
  field: string;
  message: string;
  line?: number | undefined;
}

/** A spec as it was written, and the lines of its fields; or why it is none. */
export type SpecText =
  | { spec: Record<string, unknown>; lineOf: (pointer: string) => number }
  | { problem: Problem };

/** Reads a spec in YAML or JSON. The reader is loaded when it is first needed. */
export async function readSpec(text: string): Promise<SpecText> {
  const { readYaml } = await import('echelon-verify/text/read-yaml');
  const read = readYaml(text);
  if ('fault' in read) {
    const { message, line, column } = read.fault;
    const where = column === undefined ? '' : ` (column ${column})`;
    return { problem: { field: '', message: `${message}${where}`, line } };
  }
  const { value, lineOf } = read;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const message = 'A spec is an object of fields, such as `engine: replay`.';
    return { problem: { field: '', message } };
  }
  return { spec: value as Record<string, unknown>, lineOf };
}

/** A spec as YAML. */
export async function writeSpec(spec: unknown): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(spec);
}

/** Start and end of a line (from 1) in a text. */
export function lineRange(text: string, line: number): [start: number, end: number] {
  const lines = text.split('\n');
  const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  return [start, start + (lines[line - 1]?.length ?? 0)];
}
