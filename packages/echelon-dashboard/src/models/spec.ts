/** A field of a spec: its path with dots, and its value as JSON. */
export interface SpecRow {
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

/** The fields in which two specs differ; undefined: it is not set. */
export function compareSpecs(
  a: Record<string, unknown>,
  b: Record<string, unknown>,
): { field: string; a: string | undefined; b: string | undefined }[] {
  const [first, second] = [a, b].map(
    (spec) => new Map(rowsOf(spec, new Set()).map(({ field, value }) => [field, value])),
  );
  return [...new Set([...first!.keys(), ...second!.keys()])]
    .filter((field) => first!.get(field) !== second!.get(field))
    .sort()
    .map((field) => ({ field, a: first!.get(field), b: second!.get(field) }));
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
