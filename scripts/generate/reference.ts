// Writes the reference pages of findings, metrics and spec fields from the code.
import { writeFileSync } from 'node:fs';
import { FINDINGS } from '../../packages/echelon-verify/src/report/findings.ts';
import { STEP_FINDINGS } from '../../packages/echelon-verify/src/report/step-findings.ts';
import { allEngines } from '../../src/engines/registry.ts';
import { createMetrics } from '../../src/observe/metrics.ts';

writeFileSync('docs/reference/findings.md', findings());
writeFileSync('docs/reference/metrics.md', await metrics());
writeFileSync('docs/reference/spec.md', spec());

function findings(): string {
  const table = (kinds: object) =>
    `| code | severity | meaning | remedy |
| --- | --- | --- | --- |
${Object.entries(kinds)
  .map(([code, { severity, means, remedy }]) => `| \`${code}\` | ${severity} | ${means} | ${remedy} |`)
  .join('\n')}`;
  return `# Findings

A finding is an observation about a whole batch or dump. An \`error\` means that the batch contradicts itself or its stated
parameters. A \`warning\` means that data are poor or missing. A batch is ok if it has no wrong row, no unverifiable row and no error.
[How a batch is verified](../explanation/verification.md) explains the checks.

${table(FINDINGS)}

## Optimizer steps

These findings are about [the training step](../explanation/verify-the-step.md) after the advantage. Those that compare rollout engine
and trainer are statistics with a standard error, so they are warnings and never outcomes of tokens.

${table(STEP_FINDINGS)}
`;
}

async function metrics(): Promise<string> {
  const text = await createMetrics({
    role: 'api',
    version: '',
    readStore: () => Promise.reject(new Error('no store')),
  }).text();
  const types = new Map(
    [...text.matchAll(/^# TYPE (echelon_\S+) (\w+)$/gm)].map(([, name, type]) => [name!, type!]),
  );
  const rows = [...text.matchAll(/^# HELP (echelon_\S+) (.*)$/gm)].map(
    ([, name, help]) => `| \`${name}\` | ${types.get(name!)} | ${help!.replace(/\.$/, '')} |`,
  );
  return `# Metrics

The api and the dispatchers serve these metrics for Prometheus at \`ECHELON_METRICS_PORT\`, besides the default ones of Node.js. A *gauge* of
the store has the same value at every process: take the maximum. Add up a *counter* or a *histogram* over the processes.
The [runbooks](../guides/runbooks.md) explain the alerts that use them.

| metric | type | meaning |
| --- | --- | --- |
${rows.sort().join('\n')}
`;
}

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

function spec(): string {
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
