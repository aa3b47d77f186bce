/** A field of a spec: its path with dots, and its value as JSON. */
interface SpecRow {
  field: string;
  value: string;
  isDefault: boolean;
}

/** The fields of a spec; `defaults` holds the JSON pointers of the values that the spec does not set. */
export function rowsOf(spec: Record<string, unknown>, defaults: ReadonlySet<string>): SpecRow[] {
  return leaves(spec, '').map(([pointer, value]) => ({
    field: pointer.slice(1).replaceAll('/', '.'),
    value: typeof value === 'string' ? value : JSON.stringify(value),
    isDefault: isBelow(pointer, defaults),
  }));
}

/** The fields in which specs differ, with the value of each spec; undefined: it is not set. */
export function differingFields(
  specs: readonly Record<string, unknown>[],
): { field: string; values: (string | undefined)[] }[] {
  const fields = specs.map(
    (spec) => new Map(rowsOf(spec, new Set()).map(({ field, value }) => [field, value])),
  );
  return [...new Set(fields.flatMap((own) => [...own.keys()]))]
    .sort()
    .map((field) => ({ field, values: fields.map((own) => own.get(field)) }))
    .filter(({ values }) => new Set(values).size > 1);
}

function leaves(value: unknown, pointer: string): [pointer: string, value: unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[pointer, value]];
  const entries = Object.entries(value);
  if (entries.length === 0) return pointer === '' ? [] : [[pointer, {}]];
  return entries.flatMap(([key, inner]) => leaves(inner, `${pointer}/${key}`));
}

function isBelow(pointer: string, parents: ReadonlySet<string>): boolean {
  for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) if (parents.has(at)) return true;
  return false;
}

/** A problem of a text: the field (a JSON pointer; '' for the whole text), and its line if it is known. */
export interface Problem {
  field: string;
  message: string;
  line?: number | undefined;
}

/** A spec as it was written, and the lines of its fields; or why it is none. */
type SpecText = { spec: Record<string, unknown>; lineOf: (pointer: string) => number } | { problem: Problem };

/** Reads a spec in YAML or JSON. The reader is loaded when it is first needed. */
export async function readSpec(text: string): Promise<SpecText> {
  const { readYaml } = await import('command-kit/read-yaml');
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

/** A part of a line of YAML or JSON, for its colour. */
interface Token {
  kind: 'key' | 'text' | 'number' | 'comment' | 'plain';
  text: string;
}

const TOKENS =
  /(?<comment>(?<=^|\s)#.*$)|(?<key>"[^"]*"(?=\s*:)|[\w./-]+(?=:(?:\s|$)))|(?<text>"[^"]*"?|'[^']*'?)|(?<number>(?<![\w.-])-?\d[\d.]*(?:e-?\d+)?(?![\w.])|\b(?:true|false|null)\b)/gi;

/** The parts of a line, in order; together they are the line. */
export function tokensOf(line: string): Token[] {
  const tokens: Token[] = [];
  let end = 0;
  for (const match of line.matchAll(TOKENS)) {
    if (match.index > end) tokens.push({ kind: 'plain', text: line.slice(end, match.index) });
    const [kind] = Object.entries(match.groups!).find(([, text]) => text !== undefined)!;
    tokens.push({ kind: kind as Token['kind'], text: match[0] });
    end = match.index + match[0].length;
  }
  return end < line.length ? [...tokens, { kind: 'plain', text: line.slice(end) }] : tokens;
}
