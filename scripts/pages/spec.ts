import { allEngines } from '../../src/engines/registry.ts';

interface Schema {
  type?: string | string[];
  description?: string;
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
}

/** A field of a spec by its dotted path; `usual`: its default, or that it is required. */
interface FieldRow {
  path: string;
  values: string;
  usual: string;
  meaning: string;
}

/** The page of the fields of a spec, by engine. */
export function specPage(): string {
  const engines = allEngines().map(({ name, schema, example, resolve }) => {
    const { properties, required } = schema as Schema;
    const defaults = defaultsOf(example, resolve(example));
    return { name, rows: fieldRows(['', properties!, required ?? []], defaults) };
  });
  const [first, ...others] = engines;
  // A field that means the same everywhere is explained once; an engine states what it has otherwise.
  const common = new Map(
    first!.rows.flatMap((row) => {
      const same = others.map(({ rows }) => rows.find(({ path }) => path === row.path));
      if (!same.every((one) => one?.meaning === row.meaning)) return [];
      const shared = (key: 'values' | 'usual') =>
        same.every((one) => one![key] === row[key]) ? row[key] : '';
      return [[row.path, { ...row, values: shared('values'), usual: shared('usual') }] as const];
    }),
  );
  const own = (row: FieldRow): FieldRow[] => {
    const known = common.get(row.path);
    if (known === undefined) return [row];
    return known.values === row.values && known.usual === row.usual ? [] : [{ ...row, meaning: '' }];
  };
  const tables = [
    fieldTable('Fields of every engine', [...common.values()]),
    ...engines.map(({ name, rows }) => fieldTable(name, rows.flatMap(own))),
  ];
  return `# Spec fields

A spec is a YAML or JSON object that describes one experiment. \`engine\` selects the engine, which adds fields of its own.
\`echelon submit FILE\` submits a spec, \`echelon plan FILE\` shows it with all defaults. An unknown field is refused. The examples are in
[deploy/examples](../../deploy/examples).

${tables.join('\n')}`;
}

function fieldTable(title: string, rows: readonly FieldRow[]): string {
  const lines = rows.map(
    ({ path, ...row }) => `| \`${path}\` | ${row.values} | ${row.usual} | ${row.meaning} |`,
  );
  return `## ${title}\n\n| field | values | default | meaning |\n| --- | --- | --- | --- |\n${lines.join('\n')}\n`;
}

/** The values, by dotted path, that the engine fills in for a spec with required fields only. */
function defaultsOf(submitted: unknown, resolved: unknown, path: string[] = []): Map<string, unknown> {
  if (submitted === undefined && !isRecord(resolved)) return new Map([[path.join('.'), resolved]]);
  if (!isRecord(resolved)) return new Map();
  const given = isRecord(submitted) ? submitted : {};
  return new Map(
    Object.entries(resolved).flatMap(([key, value]) => [...defaultsOf(given[key], value, [...path, key])]),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldRows(
  [prefix, properties, required]: [string, Record<string, Schema>, readonly string[]],
  defaults: ReadonlyMap<string, unknown>,
): FieldRow[] {
  return Object.entries(properties).flatMap(([key, schema]) => {
    const path = `${prefix}${key}`;
    const value = defaults.get(path);
    const filled =
      value === undefined || value === null || Array.isArray(value) ? '' : `\`${JSON.stringify(value)}\``;
    const usual = required.includes(key) ? 'required' : filled.length > 60 ? 'see below' : filled;
    const said = filled === '' ? '' : ` Default: ${String(value)}.`;
    const meaning = (schema.description ?? '').replace(said, '').replaceAll('|', '\\|').replaceAll('\n', ' ');
    const row = { path, values: valuesOf(schema), usual, meaning };
    if (!schema.properties) return [row];
    return [row, ...fieldRows([`${path}.`, schema.properties, schema.required ?? []], defaults)];
  });
}

function valuesOf(schema: Schema): string {
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  if (schema.anyOf) return [...new Set(schema.anyOf.map(valuesOf))].join(', ');
  if (schema.items) return `list of ${valuesOf(schema.items)}`;
  const least = schema.minimum ?? schema.exclusiveMinimum;
  const bounds = [
    least === undefined ? '' : `${schema.minimum === undefined ? '>' : '≥'} ${least}`,
    schema.maximum === undefined ? '' : `≤ ${schema.maximum}`,
  ].filter(Boolean);
  return [[schema.type].flat().join(' or '), ...bounds].filter(Boolean).join(', ');
}
