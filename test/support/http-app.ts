import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Queue } from 'bullmq';
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import { createApp } from '../../src/http/app.ts';
import type { App, AppDeps, AppSettings, Limits } from '../../src/http/server/deps.ts';
import { PROBLEM_TYPE } from '../../src/http/server/to-problem.ts';
import type { Store } from '../../src/store/store.ts';
import { storeOf } from './made-up-store.ts';
import { wholeOperations } from './openapi.ts';
import type { Scope } from './store.ts';

/** The token that {@link appFor} accepts. */
export const TOKEN = 'token-of-the-tests-0123456789';
/** The key of its cookies and cursors. */
export const SECRET = 'secret-of-the-tests-0123456789-abcdef';

/** How {@link appFor} sets an app up; omitted parts work and do nothing. */
export interface TestAppOptions {
  store?: Store;
  storeFault?: AppDeps['storeFault'];
  enqueue?: AppDeps['queue']['enqueue'];
  removeJobs?: AppDeps['queue']['remove'];
  queues?: Queue[];
  explain?: AppDeps['verifier']['explain'];
  tokens?: AppDeps['verifier']['tokens'];
  rows?: AppDeps['verifier']['rows'];
  bundle?: AppDeps['verifier']['bundle'];
  verifyFile?: AppDeps['verifier']['verifyFile'];
  settings?: Partial<AppSettings>;
  limits?: Partial<Limits>;
  now?: () => number;
}

/** An app of a test. */
export interface TestApp {
  app: App;
  /** What it logged, one JSON object a line. */
  logged: Record<string, unknown>[];
  /** A request with the token and a good Host; the answer is checked against the OpenAPI document. */
  call: (method: string, url: string, options?: CallOptions) => Promise<LightMyRequestResponse>;
}

/** `token` null: without one. `body` is sent as JSON; `raw` as it is. */
export interface CallOptions {
  headers?: Record<string, string>;
  token?: string | null;
  body?: unknown;
  raw?: string | Buffer;
}

/** A store that fails the test of a route that should not have asked it. */
export const NO_STORE = storeOf((path) => () => {
  throw new Error(`the store was asked: ${path}`);
});

/** The whole HTTP app; closed when `scope` is over. */
export async function appFor(scope: Scope, options: TestAppOptions = {}): Promise<TestApp> {
  const logged: Record<string, unknown>[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const app = await createApp({
    store: options.store ?? NO_STORE,
    ...(options.storeFault && { storeFault: options.storeFault }),
    queue: {
      enqueue: options.enqueue ?? (async () => {}),
      remove: options.removeJobs ?? (async () => {}),
      queues: options.queues ?? [],
    },
    verifier: {
      explain: options.explain ?? (async () => ({})),
      tokens: options.tokens ?? (async () => ({})),
      rows: options.rows ?? (async () => new Uint8Array()),
      bundle: options.bundle ?? (async () => new Uint8Array()),
      verifyFile: options.verifyFile ?? (async () => ({ batches: [], steps: [] })),
    },
    settings: {
      version: '0.0.0-test',
      publicUrl: 'http://echelon.test',
      allowedHosts: ['echelon.test', '127.0.0.1'],
      tokens: [TOKEN],
      promptEndpoints: ['https://api.openai.com'],
      cookieSecret: SECRET,
      ...options.settings,
      // A busy machine is no store that hangs.
      limits: { requests: 100_000, storeTimeoutMs: 30_000, ...options.limits },
    },
    log,
    clock: { now: options.now ?? Date.now },
  });
  scope.after(async () => {
    await app.close();
  });
  await app.ready();
  const kind = JSON.stringify([options.settings, options.limits, options.queues?.length]);
  const call: TestApp['call'] = async (method, url, sent = {}) => {
    const response = await app.inject(request(method, url, sent));
    conformanceOf(kind, app)(method, url, response);
    return response;
  };
  return { app, logged, call };
}

function request(
  method: string,
  url: string,
  { headers, token = TOKEN, body, raw }: CallOptions,
): InjectOptions {
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  return {
    method: method as 'GET',
    url,
    headers: {
      host: 'echelon.test',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(payload === undefined ? {} : { payload }),
  };
}

interface Operation {
  responses: Record<string, { description?: string; content?: Record<string, { schema?: object }> }>;
}

/** One for each kind of app: their documents are equal, and most of the time of a short test is that of making one. */
const checks = new Map<string, ReturnType<typeof conformance>>();

function conformanceOf(kind: string, app: App): ReturnType<typeof conformance> {
  const known = checks.get(kind) ?? conformance(app);
  checks.set(kind, known);
  return known;
}

/** Checks answers against the document that clients are given: status, media type, schema and an error's code. */
function conformance(app: App) {
  const document = wholeOperations(app.swagger()) as unknown as {
    paths: Record<string, Record<string, Operation>>;
  };
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  ajv.addSchema(document, 'document');
  const paths = Object.keys(document.paths).map((path) => ({
    path,
    pattern: new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`),
  }));

  return (method: string, url: string, response: LightMyRequestResponse): void => {
    const pathname = url.split('?', 1)[0]!;
    const found = paths.find(({ pattern }) => pattern.test(pathname));
    const operation = found && document.paths[found.path]?.[method.toLowerCase()];
    if (!found || !operation) return;
    const place = `${method} ${found.path} ${response.statusCode}`;
    const type = String(response.headers['content-type'] ?? '').split(';', 1)[0]!;
    const content = operation.responses[response.statusCode]?.content;
    assert.ok(operation.responses[response.statusCode], `${place} is not documented: ${response.body}`);
    if (response.body === '' || type === 'text/html') return;
    const code: unknown = type === PROBLEM_TYPE ? response.json().code : undefined;
    const described = operation.responses[response.statusCode]?.description ?? '';
    assert.ok(code === undefined || described.includes(`\`${code}\``), `${place} does not document ${code}`);
    assert.ok(content?.[type], `${place} does not document ${type}`);
    if (!type.endsWith('json')) return;
    const parts = [
      'paths',
      found.path,
      method.toLowerCase(),
      'responses',
      response.statusCode,
      'content',
      type,
    ];
    const pointer = parts.map((part) => String(part).replaceAll('~', '~0').replaceAll('/', '~1')).join('/');
    const validate = ajv.getSchema(
      `document#/${pointer}/schema`.replaceAll('{', '%7B').replaceAll('}', '%7D'),
    );
    assert.ok(validate, `no schema at ${pointer}`);
    assert.ok(validate(response.json()), `${place}: ${ajv.errorsText(validate.errors)}\n${response.body}`);
  };
}

/** The smallest valid specs. */
export const LOCAL = { engine: 'local', name: 'a local one', estimator: { name: 'hgpo' } } as const;
/** See {@link LOCAL}. */
export const REPLAY = { engine: 'replay', name: 'a replay' } as const;
