import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { appFor, LOCAL, REPLAY } from '../../support/http-app.ts';
import { running, storeFor } from '../../support/store.ts';

// Random requests, generated from the OpenAPI document. Each answer is checked against that document by
// `call`, and none may be a server error. A failure prints its seed. document-fuzz.full.test.ts runs a fuzzer for longer.

const { store } = await storeFor({ after });
const { app, call } = await appFor({ after }, { store });
const { experiment } = await running(store);
const RUNS = Number(process.env.ECHELON_FUZZ_RUNS ?? 200);

interface Parameter {
  in: string;
  name: string;
}
const paths = app.swagger().paths as Record<string, Record<string, { parameters?: Parameter[] }>>;
const READS = Object.entries(paths)
  .filter(([path, methods]) => methods.get && !path.endsWith('/events'))
  .map(([path, methods]) => ({
    path,
    query: (methods.get?.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => name),
  }));

const value = fc.oneof(
  fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
  fc.integer().map(String),
  fc.constantFrom(
    '',
    '0',
    '1',
    '-1',
    '1e9',
    'null',
    'true',
    '1-1048576',
    '0-1',
    'queued',
    'a,b',
    '2147483648',
    'NaN',
  ),
);

test('random reads cause no server error', async () => {
  const request = fc.record({
    route: fc.constantFrom(...READS),
    id: fc.oneof({ weight: 3, arbitrary: fc.constant(experiment) }, value),
    names: fc.array(fc.oneof(fc.nat({ max: 9 }), fc.string()), { maxLength: 4 }),
    values: fc.array(value, { minLength: 4, maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(request, async ({ route, id, names, values }) => {
      const query = new URLSearchParams();
      names.forEach((name, index) => {
        query.append(typeof name === 'number' ? (route.query[name] ?? 'limit') : name, values[index]!);
      });
      const path = route.path.replace('{id}', encodeURIComponent(id));
      const response = await call('GET', names.length > 0 ? `${path}?${query}` : path);
      assert.ok(response.statusCode < 500, `${path}?${query}: ${response.body}`);
    }),
    { numRuns: RUNS },
  );
});

test('random specs cause no server error, and a refused spec names its fields', async () => {
  const key = fc.constantFrom(
    'estimator',
    'name',
    'engine',
    'rollout',
    'training',
    'steps',
    'groups',
    'gamma',
    'mode',
    'replay',
    'fault',
    'historyLength',
    'priority',
    'resources',
    'cpus',
    'cluster',
    'project',
    'observations',
    '__proto__',
    'x',
  );
  const leaf = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom(0, 1, 2.5, 'hgpo', 'none', 'local', true),
  );
  const change = fc.record({ at: fc.array(key, { minLength: 1, maxLength: 3 }), leaf });
  const spec = fc.record({
    base: fc.constantFrom(LOCAL, REPLAY),
    changes: fc.array(change, { maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(spec, fc.boolean(), async ({ base, changes }, dry) => {
      const body: Record<string, unknown> = structuredClone(base);
      for (const { at, leaf: put } of changes) assign(body, at, put);
      const response = await call('POST', dry ? '/v1/plans' : '/v1/experiments', { body });
      assert.ok([200, 202, 400].includes(response.statusCode), response.body);
      if (response.statusCode === 400) assert.ok(response.json().problems.length > 0, response.body);
    }),
    { numRuns: RUNS },
  );
});

test('random bytes cause no server error', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      const headers = { 'content-type': 'application/json' };
      const response = await call('POST', '/v1/experiments', { raw: Buffer.from(bytes), headers });
      assert.equal(response.statusCode, 400, response.body);
    }),
    { numRuns: RUNS },
  );
});

/** Writes a value at a path of own keys and creates missing objects. */
function assign(target: Record<string, unknown>, [key, ...rest]: string[], put: unknown): void {
  const inner = Object.hasOwn(target, key!) ? target[key!] : undefined;
  const isObject = inner !== null && typeof inner === 'object' && !Array.isArray(inner);
  const next = isObject ? (inner as Record<string, unknown>) : {};
  if (rest.length > 0) assign(next, rest, put);
  const set = rest.length > 0 ? next : put;
  Object.defineProperty(target, key!, { value: set, enumerable: true, configurable: true, writable: true });
}
