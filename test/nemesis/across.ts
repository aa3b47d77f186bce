import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FAKE_DRIVER, startBench, until } from '../support/dispatch.ts';
import {
  OWN_SOURCES,
  type PartProcess,
  spawnPart,
  startDispatcherProcess,
} from '../support/dispatcher-processes.ts';
import { ENDLESS, type FakeDriver, fakeArguments } from '../support/fake-driver.ts';
import { freePort } from '../support/redis.ts';
import { checkOut } from './older.ts';
import { createOwned, type Owned } from './world.ts';

const TOKEN = 'token-of-the-records-0123456789';
/** These are answered by a verifier, which the processes of campaigns do not have. */
const WITHOUT_ANSWER = /\/(explain|rows|tokens|bundle)$/;
/** A stream is followed for this long. */
const STREAM_MS = 1_500;

interface Answer {
  readonly status: number;
  readonly text: string;
}

type Call = (method: string, path: string, body?: object) => Promise<Answer>;

/** The names under which paths find what was created, by the path up to the parameter. */
type Created = ReadonlyMap<string, readonly string[]>;

/**
 * Lets two versions read and continue each other's records, in both directions: each record, event and report that one
 * version has stored is read by every GET of the other, changed by it, and read by the first one again. Returns what failed,
 * in words.
 */
export async function readAcross(older: string, progress: (line: string) => void): Promise<string[]> {
  const sources = checkOut(older);
  try {
    const failures: string[] = [];
    for (const [first, second] of [
      [OWN_SOURCES, sources.directory],
      [sources.directory, OWN_SOURCES],
    ] as const) {
      const words = first === OWN_SOURCES ? `this version, then ${older}` : `${older}, then this version`;
      const found = await readOneWay(first, second);
      progress(`records of ${words}: ${found.reads} answers, ${found.failures.length} failures`);
      for (const failure of found.failures) progress(failure);
      failures.push(...found.failures.map((failure) => `records of ${words}: ${failure}`));
    }
    return failures;
  } finally {
    await sources.stop();
  }
}

async function readOneWay(first: string, second: string) {
  const owned = createOwned();
  try {
    const run = await startParts(owned);
    await run(first);
    const { call } = run;
    const created = await create(call, first === OWN_SOURCES);
    const short = created.get('/v1/experiments/')!.slice(0, 2);
    await until(
      async () => (await statesOf(call, short)).every((state) => state === 'succeeded'),
      'two ends',
    );
    const failures: string[] = [];
    const before = await readAll(call, first, created);
    await run(second);
    const between = await readAll(call, second, created);
    failures.push(...differences('read by the other version', before, between));
    await change(call, created, failures);
    await run(first);
    const after = await readAll(call, first, created);
    failures.push(...differences('read again', between, after));
    const all = created.get('/v1/experiments/')!;
    await until(async () => (await statesOf(call, all)).every(isOver), 'the end of every experiment');
    return { reads: before.size + between.size + after.size, failures };
  } finally {
    await owned.stop();
  }
}

const isOver = (state: string) => ['succeeded', 'failed', 'cancelled'].includes(state);

/** Redis and a cluster, and a function that runs a dispatcher and an api of some sources in place of the ones before. */
async function startParts(owned: Owned) {
  const bench = owned.own(await startBench({ cpus: 4, gpus: 2 }));
  const releases = { after: (stop: () => Promise<void>) => void owned.own({ stop }) };
  const port = await freePort();
  let running: PartProcess[] = [];
  let started = 0;

  const call: Call = async (method, path, body) => {
    const signal = AbortSignal.timeout(/\/events(\?|$)/.test(path) ? STREAM_MS : 20_000);
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    const payload = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, signal, headers, ...payload });
    return { status: answer.status, text: await textOf(answer) };
  };

  async function run(sources: string): Promise<void> {
    for (const part of running) part.kill('SIGTERM');
    await Promise.all(running.map(({ exited }) => exited));
    const setup = { url: bench.server.url, archive: bench.archive, port, token: TOKEN };
    const api = spawnPart(releases, { script: 'api-process.ts', name: 'api', setup, sources });
    await api.says('ready');
    running = [api, await startDispatcherProcess(bench, releases, { id: `d${++started}` }, sources)];
  }

  return Object.assign(run, { call });
}

/** What an answer says until its time is over: a stream does not end by itself. */
async function textOf(answer: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  try {
    for await (const part of answer.body ?? []) parts.push(part);
  } catch (error) {
    if ((error as Error).name !== 'TimeoutError') throw error;
  }
  return Buffer.concat(parts).toString();
}

function specOf(driver: FakeDriver, more: object = {}) {
  return {
    ...{ name: 'across', engine: 'replay', resources: { cpus: 1 }, rules: [], gracePeriodSeconds: 1 },
    env: { [FAKE_DRIVER]: fakeArguments(driver).join(' ') },
    ...more,
  };
}

const PLAN = {
  ...{ name: 'b against a', spec: { engine: 'local' }, baseline: 'a', seeds: [1, 2, 3], panel: 'rooms' },
  methods: [
    { name: 'a', set: { estimator: { name: 'gigpo' } } },
    { name: 'b', set: { estimator: { name: 'hgpo' } } },
  ],
  ...{ step: 40, replicates: 2, margin: 5, deviation: 4 },
};

/** Creates a record of each kind. `complete`: refusals fail; an older version may know less. */
async function create(call: Call, complete: boolean): Promise<Created> {
  const created = new Map<string, string[]>([
    ['/v1/clusters/', ['fake']],
    ['/v1/projects/', ['default']],
  ]);
  async function add(path: string, body: object): Promise<string | undefined> {
    const { status, text } = await call('POST', path, body);
    if (status >= 400 && complete) throw new Error(`POST ${path}: ${status} ${text}`);
    if (status >= 400) return undefined;
    const { id, key, name } = JSON.parse(text) as { id?: string; key?: { id: string }; name?: string };
    const made = id ?? key?.id ?? name!;
    created.set(`${path}/`, [...(created.get(`${path}/`) ?? []), made]);
    return made;
  }
  const submit = (driver: FakeDriver, more?: object) => add('/v1/experiments', specOf(driver, more));
  await call('PATCH', '/v1/projects/default', { urgentGpuQuota: 2 });
  await add('/v1/subscriptions', {
    events: ['state', 'rule', 'checkpoint', 'cluster-silent', 'sweep-finished'],
    target: { kind: 'webhook', url: 'https://receiver.invalid/hook', secret: 'hook' },
  });
  await submit({ steps: 3, batchBytes: 500 });
  await submit({ steps: 3, batchBytes: 100_000, saves: true, logLines: 2 });
  await submit({ steps: 2 }, { tags: ['a', 'b'], maxAttempts: 3 });
  const batch = await submit({ steps: ENDLESS, delayMs: 100, saveEvery: 10 }, { priorityClass: 'batch' });
  if (batch !== undefined)
    await until(async () => (await statesOf(call, [batch]))[0] === 'running', 'a batch experiment that runs');
  // The urgent one needs all CPUs, so that the batch experiment is preempted.
  await submit({ steps: 2 }, { priorityClass: 'urgent', resources: { cpus: 4 } });
  await submit({ steps: ENDLESS, delayMs: 100 });
  await submit({ steps: 3 }, { resources: { cpus: 64 }, priority: 2 });
  const { name: _, ...spec } = specOf({ steps: 2 });
  await add('/v1/sweeps', { name: 'a sweep', method: 'list', spec, axes: { '/maxAttempts': [18, 19] } });
  await add('/v1/comparisons', PLAN);
  await add('/v1/projects', { name: 'team', weight: 2 });
  await add('/v1/keys', { name: 'viewer', scopes: ['read'], project: 'team' });
  await call('PATCH', '/v1/clusters/fake', { labels: { zone: 'a' } });
  return created;
}

/** What another version does to records that it did not write. */
async function change(call: Call, created: Created, failures: string[]): Promise<void> {
  async function done(method: string, path: string, body?: object): Promise<void> {
    const { status, text } = await call(method, path, body);
    // 409: it has ended meanwhile.
    if (status >= 400 && status !== 409) failures.push(`${method} ${path}: ${status} ${text.slice(0, 200)}`);
  }
  const experiments = created.get('/v1/experiments/')!;
  await done('PATCH', `/v1/experiments/${experiments.at(-1)}`, { priority: 1 });
  for (const id of experiments.slice(2)) await done('POST', `/v1/experiments/${id}/cancel`);
  for (const id of created.get('/v1/sweeps/') ?? []) await done('POST', `/v1/sweeps/${id}/cancel`);
  for (const id of created.get('/v1/comparisons/') ?? []) await done('POST', `/v1/sweeps/${id}/cancel`);
  await done('PATCH', '/v1/projects/team', { weight: 3 });
  await done('PATCH', '/v1/clusters/fake', { labels: { zone: 'b' } });
  await done('POST', '/v1/experiments', specOf({ steps: 1 }));
  for (const id of created.get('/v1/keys/') ?? []) await done('DELETE', `/v1/keys/${id}`);
}

async function statesOf(call: Call, ids: readonly string[]): Promise<string[]> {
  const answers = await Promise.all(ids.map((id) => call('GET', `/v1/experiments/${id}`)));
  return answers.map(({ text }) => (JSON.parse(text) as { state: string }).state);
}

/** The answers of every GET of a version's API, with each created name in place of its parameters. */
async function readAll(call: Call, sources: string, created: Created): Promise<Map<string, Answer>> {
  const document = readFileSync(join(sources, 'docs/openapi.json'), 'utf8');
  const { paths } = JSON.parse(document) as { paths: Record<string, object> };
  const answers = new Map<string, Answer>();
  for (const [path, operations] of Object.entries(paths)) {
    if (!('get' in operations) || WITHOUT_ANSWER.test(path)) continue;
    for (const filled of filledPaths(path, created)) answers.set(filled, await call('GET', filled));
  }
  return answers;
}

function filledPaths(path: string, created: Created): string[] {
  const [base = '', rest] = path.replace('{attempt}/{batch}', '1/1').split(/\{\w+\}/, 2);
  // A feed begins with what comes, unless it is asked for all.
  if (rest === undefined) return [path === '/v1/events' ? `${path}?after=0` : path];
  const query = path === '/v1/projects/{name}/events' ? '?after=0' : '';
  return rest.includes('{') ? [] : (created.get(base) ?? []).map((name) => `${base}${name}${rest}${query}`);
}

/** What a version does not read although another one did. */
function differences(
  when: string,
  before: ReadonlyMap<string, Answer>,
  after: ReadonlyMap<string, Answer>,
): string[] {
  return [...after].flatMap(([path, { status, text }]) => {
    const what = `GET ${path}, ${when}`;
    const was = before.get(path);
    if (status >= 500) return [`${what}: ${status} ${text.slice(0, 300)}`];
    // The version before had no answer either, or this one needs a parameter that became optional.
    if (was === undefined || was.status >= 300 || (status === 400 && text.includes('is missing'))) return [];
    if (status >= 300) return [`${what}: ${status} ${text.slice(0, 300)}`];
    return lost(was.text, text).map((id) => `${what}: ${id} is absent`);
  });
}

/** The ids of a list that a later reading lacks; those of streams, as far as both were followed. */
function lost(before: string, after: string): string[] {
  const [streamed, again] = [before, after].map((text) => text.match(/(?<=^id: ?)[\d-]+/gm));
  if (streamed && again) return streamed.filter((id, at) => at < again.length && again[at] !== id);
  const ids = new Set(idsOf(after));
  return idsOf(before).filter((id) => !ids.has(id));
}

const idsOf = (text: string): string[] => text.match(/(?<="id":")[\w-]+/g) ?? [];
