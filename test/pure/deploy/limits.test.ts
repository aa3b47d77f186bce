import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { loadSettings, SETTINGS } from '../../../src/config/settings.ts';
import { ERRORS } from '../../../src/core/errors.ts';
import { DEFAULT_LIMITS } from '../../../src/http/server/deps.ts';
import { DEFAULT_STORE_LIMITS } from '../../../src/store/context.ts';

const page = readFileSync('docs/reference/limits.md', 'utf8');

/** Bounds that no caller meets: how much of an input a message shows, and how work is cut into turns. */
const INTERNAL = [
  'MAX_SHOWN in src/schemas/field-problems.ts',
  'MAX_READ in src/schemas/field-problems.ts',
  'MAX_FIELD in src/schemas/field-problems.ts',
  'MAX_NAME in src/schemas/secrets.ts',
  'MAX_VALUE in src/schemas/secrets.ts',
  'MAX_SHOWN in src/schemas/secrets.ts',
  'MIN_WINDOW in src/http/resources/queues/what-if.ts',
  'MAX_SHIFTS in src/http/resources/queues/what-if.ts',
  'MAX_CANCEL_MS in src/http/resources/sweeps/sweeps.ts',
  'MAX_REMEMBERED in src/http/resources/sweeps/best.ts',
  'MAX_DATE_MS in src/http/resources/clock/clock.ts',
  'MAX_DIGEST in src/core/event-bounds.ts',
  'MAX_NUMBER in src/core/event-bounds.ts',
  'followPollMs in src/store/context.ts',
  'pressureMaxAgeMs in src/store/context.ts',
];

/** A documented limit: its value as the page states it, and the constants and settings that set it. */
interface Row {
  readonly value: string;
  readonly atLimit: string;
  readonly constants: readonly { name: string; path: string }[];
  readonly settings: readonly string[];
}

function rows(): Row[] {
  const lines = page.split('\n').filter((line) => /^\| (?!limit |---)/.test(line));
  return lines.map((line) => {
    const [, value = '', atLimit = '', by = ''] = line.slice(2, -2).split(' | ');
    const constants = [...by.matchAll(/((?:`\w+`[,;] )*`\w+`) in `([\w./-]+)`/g)].flatMap(([, names, path]) =>
      [...names!.matchAll(/`(\w+)`/g)].flatMap(([, name]) =>
        name!.startsWith('ECHELON_') ? [] : [{ name: name!, path: path! }],
      ),
    );
    return { value, atLimit, constants, settings: [...by.matchAll(/ECHELON_\w+/g)].map(([name]) => name) };
  });
}

/** The number that a source file gives a name: a product of numbers and powers. */
function constantOf({ name, path }: { name: string; path: string }): number {
  const [, text] = new RegExp(`\\b${name}(?::| =) ([\\d_.* ]+)[,; }]`).exec(readFileSync(path, 'utf8')) ?? [];
  assert.ok(text !== undefined, `${name} is not in ${path}`);
  const factors = text.replaceAll('_', '').split(/(?<!\*)\*(?!\*)/);
  return factors.reduce((product, factor) => {
    const [base, exponent = 1] = factor.split('**').map(Number) as [number, number?];
    return product * base ** exponent;
  }, 1);
}

/** How the page may write a number, by what its name says of the unit. */
function formsOf(name: string, value: number): string[] {
  const plain = value.toLocaleString('en');
  if (/Share$/.test(name)) return [`${value * 100} %`];
  if (/seconds$/i.test(name)) return [`${value / 3600} h`];
  if (/(Ms|_MS)$/.test(name)) return [`${value / 1000} s`, `${value / 3_600_000} h`];
  if (/bytes|characters/i.test(name))
    return [`${value / 1024} kB`, `${value / 2 ** 20} MB`, `${plain} characters`];
  return [plain];
}

const states = (text: string, forms: readonly string[]) =>
  forms.some((form) => new RegExp(`(?<![\\d.,])${form}(?![\\d.]|,\\d)`).test(text));

test('every limit on docs/reference/limits.md has the value of its constant or setting', () => {
  const all = rows();
  assert.ok(all.length > 50, `${all.length} rows`);
  const loaded = loadSettings({});
  const defaults = new Map<string, unknown>(
    Object.entries(SETTINGS).map(([name, { variable }]) => [variable, loaded[name as keyof typeof loaded]]),
  );
  for (const { value, constants, settings } of all) {
    for (const one of constants)
      assert.ok(
        states(value, formsOf(one.name, constantOf(one))),
        `${one.name} is ${constantOf(one)}, the page says ${value}`,
      );
    for (const variable of settings) {
      assert.ok(defaults.has(variable), `${variable} is no setting`);
      const forms = formsOf(variable, Number(defaults.get(variable)));
      assert.ok(states(value, forms), `${variable} is ${defaults.get(variable)}, the page says ${value}`);
    }
  }
});

test('every error on docs/reference/limits.md has the status of its code', () => {
  for (const { atLimit } of rows())
    for (const [, status, code] of atLimit.matchAll(/(\d{3}) `([a-z-]+)`/g))
      assert.equal(Number(status), ERRORS[code as keyof typeof ERRORS]?.status, `${code}: ${atLimit}`);
});

test('an attempt reports no more names of metrics than the store keeps', () => {
  const bounds = readFileSync('deploy/ray-worker/echelon_rayworker/bounds.py', 'utf8');
  const stated = /^MAX_METRIC_NAMES = ([\d_]+)$/m.exec(bounds)?.[1]?.replaceAll('_', '');
  assert.equal(Number(stated), DEFAULT_STORE_LIMITS.metricNames);
});

test('no limit of the API, of the store or of an input is missing on docs/reference/limits.md', () => {
  const files = [
    'src/schemas/**/*.ts',
    'src/http/**/*.ts',
    'src/core/ids.ts',
    'src/core/event-bounds.ts',
    'src/core/launch-plan.ts',
  ];
  const declared = globSync(files).flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/^(?:export )?const (M(?:AX|IN)_[A-Z_]+) =/gm)].map(
      ([, name]) => `${name} in ${path}`,
    ),
  );
  const known = [
    ...declared,
    ...Object.keys(DEFAULT_LIMITS).map((name) => `${name} in src/http/server/deps.ts`),
    ...Object.keys(DEFAULT_STORE_LIMITS).map((name) => `${name} in src/store/context.ts`),
  ];
  assert.ok(known.length > 70, `${known.length} are known`);
  const documented = new Set(
    rows().flatMap(({ constants }) => constants.map(({ name, path }) => `${name} in ${path}`)),
  );
  assert.deepEqual(
    known.filter((one) => !documented.has(one) && !INTERNAL.includes(one)),
    [],
  );
  assert.deepEqual(
    INTERNAL.filter((one) => !known.includes(one) || documented.has(one)),
    [],
  );
});
