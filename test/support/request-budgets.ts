import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { DEFAULT_LIMITS } from '../../src/http/server/deps.ts';
import { cpuTimeOf } from './cpu-time.ts';
import { hostileShapes, hostileTexts } from './hostile-bodies.ts';
import { appFor, LOCAL, REPLAY } from './http-app.ts';
import { storeFor } from './store.ts';

/** CPU in ms that one request may take; parsing a body of the largest size takes about a fifth of it. */
const BUDGET_MS = 250;

const { store } = await storeFor({ after });
const { app, call } = await appFor({ after }, { store });

/** The used part of a JSON schema of the document. */
interface Schema {
  $ref?: string;
  type?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  patternProperties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
}

interface Document {
  paths: Record<
    string,
    Record<string, { operationId: string; requestBody?: { content: Record<string, { schema: Schema }> } }>
  >;
  components: { schemas: Record<string, Schema> };
}

const document = app.swagger() as unknown as Document;
const VERL_AGENT = { engine: 'verl-agent', name: 'a training', recipe: 'qwen2.5_1.5b_alfworld_train' };
const SPECS = [LOCAL, REPLAY, VERL_AGENT];
const SWEEP = { name: 'a sweep', method: 'list', spec: LOCAL, axes: { 'training.seed': [1] } };

/** Accepted requests, so that a hostile value reaches every check. */
const BASES: Record<string, readonly object[]> = {
  submitExperiment: SPECS,
  planExperiment: SPECS,
  preflight: SPECS,
  submitSweep: [SWEEP],
  previewSweep: [SWEEP],
  changeExperiment: [{ priority: 1 }],
  addCluster: [{ name: 'c', address: 'ray://h:10001', sharedRoot: '/shared' }],
  createProject: [{ name: 'p' }],
  createKey: [{ name: 'k', scopes: ['read'] }],
};

const LARGEST = DEFAULT_LIMITS.bodyBytes;
/** Bytes of a body that its other fields need. */
const ROOM = 2000;
const texts = hostileTexts(LARGEST - ROOM);
const shapes = Object.entries(hostileShapes(LARGEST - ROOM));

const VALUES: readonly (readonly [string, unknown])[] = [
  ...texts.map((text) => [`texts of ${JSON.stringify(text.slice(0, 12))}`, text] as const),
  ...texts.map((text) => [`a key of ${JSON.stringify(text.slice(0, 12))}`, { [text]: 'x' }] as const),
  ...shapes,
];

type Place = readonly string[];

/** Every place for a value in a body: each field at any depth, one key of each map, one item of each list. */
function placesOf(schema: Schema, at: Place = [], depth = 0): Place[] {
  const name = schema.$ref?.split('/').at(-1);
  if (name !== undefined) return placesOf(document.components.schemas[name]!, at, depth);
  if (depth > 6) return [];
  const inner = (key: string, one: Schema | boolean | undefined) =>
    typeof one === 'object' ? [[...at, key], ...placesOf(one, [...at, key], depth + 1)] : [];
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([key, one]) => inner(key, one)),
    ...Object.values(schema.patternProperties ?? {}).flatMap((one) => inner('A_KEY', one)),
    ...inner('a-key', schema.additionalProperties),
    ...inner('0', schema.items),
    ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((one) => placesOf(one, at, depth)),
  ];
}

function bodyWith(base: object, place: Place, value: unknown): Buffer {
  const body = structuredClone(base) as Record<string, unknown>;
  let at = body;
  for (const key of place.slice(0, -1)) {
    const next = at[key];
    at[key] = typeof next === 'object' && next !== null ? next : {};
    at = at[key] as Record<string, unknown>;
  }
  at[place.at(-1)!] = value;
  const text = Buffer.from(JSON.stringify(body));
  // Escapes make some values larger: use as much as fits.
  if (text.length > LARGEST && typeof value === 'string')
    return bodyWith(base, place, value.slice(0, Math.floor((value.length * (LARGEST - ROOM)) / text.length)));
  return text;
}

/** The cost of a request: the lowest of three, because the process also collects the garbage of the previous request, and others share its cores. */
async function costOf(method: string, url: string, raw: Buffer): Promise<number> {
  const once = () =>
    cpuTimeOf(async () => {
      const { statusCode } = await call(method, url, {
        raw,
        headers: { 'content-type': 'application/json' },
      });
      assert.ok(statusCode < 500, `${statusCode} from ${url}`);
    });
  let least = await once();
  for (let again = 0; again < 2 && least >= BUDGET_MS; again += 1) least = Math.min(least, await once());
  return least;
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { operationId, requestBody }]) => {
    const schema = requestBody?.content['application/json']?.schema;
    const url = path.replace(/\{[^}]+\}/g, 'none');
    return schema === undefined ? [] : [{ method: method.toUpperCase(), url, operationId, schema }];
  }),
);

/**
 * Tests the maximum CPU time of one request, whatever it contains: each field of each body, and each key, at the largest size of a body,
 * through the whole server. `share`: one of how many of the values each place gets.
 */
export const testRequestBudgets = (share: number): void => {
  for (const { method, url, operationId, schema } of operations) {
    test(`the largest request of ${operationId} stays within its CPU budget, with hostile text in any field or key`, async () => {
      const tooMuch: string[] = [];
      const places = [...new Map(placesOf(schema).map((place) => [place.join('/'), place])).values()];
      let turn = 0;
      for (const base of BASES[operationId] ?? [{}]) {
        for (const place of [...places, ['another field']]) {
          // Each place gets some of the values; over all places each value is used many times.
          const stride = share * (places.length < 50 ? 5 : operationId === 'planExperiment' ? 47 : 199);
          for (const [what, value] of VALUES.filter(() => turn++ % stride === 0)) {
            const ms = await costOf(method, url, bodyWith(base, place, value));
            if (ms > BUDGET_MS) tooMuch.push(`${ms.toFixed()} ms: ${what} in /${place.join('/')}`);
          }
        }
      }
      assert.deepEqual(tooMuch, []);
    });
  }
};
