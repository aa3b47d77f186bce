import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolveRules } from '../../src/plan/rules.ts';
import type { Store } from '../../src/store/store.ts';
import { makeKey, makeProjects } from './access.ts';
import { appFor, REPLAY, TOKEN } from './http-app.ts';
import { claimed, clusterRecord, running, type Scope, storeFor, submitInput } from './store.ts';
import { expandAll, sweepInput, sweepRequest } from './sweep.ts';

/** One answer of the API. */
export interface RecordedAnswer {
  status: number;
  body: unknown;
}

/** The ids of a {@link recordedScene} by name, and the answers to requests of it: "GET /v1/…" with the ids. */
export interface Recording {
  ids: Scene;
  answers: Record<string, RecordedAnswer>;
}

type Scene = Awaited<ReturnType<typeof recordedScene>>;

const FILE = 'test/golden/answers/experiments.json';

/**
 * What the recorded answers are about: experiments in several states, a sweep, rules that fired. A text holds a terminal
 * sequence, which the command line has to show inert.
 */
export async function recordedScene(store: Store) {
  const ended = async (cause: 'failed' | 'stopped', message: string, exitCode: number) => {
    const lease = await running(store);
    const event = { type: 'ended', cause, exitCode, signal: 0, message, lastLines: [] as string[] } as const;
    await store.events.append(lease, [{ sequence: 1, at: 0, event }]);
    return lease.experiment;
  };
  const submitted = async (name: string) => {
    const spec = { ...REPLAY, name };
    return (await store.experiments.submit(submitInput({ name, submitted: spec, resolved: spec }))).id;
  };
  const saved = await running(store);
  const checkpoint = { type: 'checkpoint', step: 5, path: '/shared/\u001b[31m5' } as const;
  await store.events.append(saved, [{ sequence: 1, at: 0, event: checkpoint }]);
  await operated(store);
  return {
    failed: await ended('failed', 'no room\u001b[2J', 1),
    stopped: await ended('stopped', 'stopped: by a rule (exit code 143)', 143),
    saved: saved.experiment,
    one: await submitted('one'),
    two: await submitted('two'),
    measured: await measured(store),
    ruled: (await withRules(store)).experiment,
    fired: await fired(store),
    sweep: await sweepWith(store, 0.25),
    newSweep: await sweepWith(store, null),
  };
}

/** What an operator sees: a cluster, projects, a pause, keys and an audit log, each with long texts. */
async function operated(store: Store): Promise<void> {
  const size = { cpusTotal: 64, gpusTotal: 8, cpusUsed: 2, gpusUsed: 1 };
  const node = '4f1c6b0d9e2a7853c4f1c6b0d9e2a7853c4f1c6b';
  await store.clusters.put({
    ...clusterRecord({ name: 'fleet-of-the-third-floor', address: 'h:1', token: 't' }),
    nodes: [
      { id: node, ...size, draining: { remainingMs: 600_000 } },
      { id: node.replace('4f', 'a0'), ...size },
    ],
  });
  await makeProjects(store, 'a-project-with-a-rather-long-name', 'vision');
  const reason = 'the file server of the third floor gets new disks until 6 pm on Friday';
  await store.queue.setPaused({ kind: 'project', name: 'vision' }, { by: 'an operator', at: 0, reason });
  await makeKey(store, {
    id: '0123456789abcdef',
    name: 'the nightly job of continuous integration',
    project: 'vision',
    scopes: ['read', 'submit'],
  });
  await store.audit.record({
    caller: '0123456789abcdef',
    name: 'the nightly job of continuous integration',
    project: null,
    action: 'cancelExperiment',
    target: 'exp-00cz8h3k7n2q4r5s6t7v',
    status: 403,
    outcome: 'refused',
    code: 'forbidden',
    requestId: 'r',
    address: '2001:db8:85a3::8a2e:370:7334',
    note: null,
  });
}

async function measured(store: Store): Promise<string> {
  const lease = await running(store);
  const events = Array.from({ length: 100 }, (_, step) => ({
    sequence: step + 1,
    at: 0,
    event: {
      type: 'metrics',
      step,
      values: { 'actor/kl': step / 3, 'actor/x\u202e': step === 5 ? 'NaN' : 1, loss: 2 },
    } as const,
  }));
  await store.events.append(lease, events);
  return lease.experiment;
}

function withRules(store: Store) {
  const rules = resolveRules([{ preset: 'kl-high', do: 'stop' }, { preset: 'coverage' }]);
  return running(store, { input: { resolved: { engine: 'replay', rules } } });
}

async function fired(store: Store): Promise<string> {
  const { experiment } = await withRules(store);
  const { cursor, last } = await store.rules.readSignals(experiment, 10);
  const reason = 'rule kl-high: actor/ppo_kl was 1 at step 7';
  const evidence = { condition: 'actor/ppo_kl above 0.1', values: [] };
  await store.rules.advance({
    experiment,
    cursor,
    last,
    memory: {},
    due: null,
    stop: { rule: 'kl-high', reason },
    fired: [
      {
        type: 'rule',
        rule: 'kl-high',
        do: 'stop',
        attempt: 1,
        step: 7,
        at: 1,
        batch: null,
        reason,
        evidence,
      },
    ],
  });
  return experiment;
}

async function sweepWith(store: Store, value: number | null): Promise<string> {
  const { id } = await store.sweeps.create(sweepInput(sweepRequest(1)));
  const [child] = await expandAll(store, id);
  if (value === null) return id;
  const lease = await claimed(store, child!);
  await store.attempts.confirm(lease);
  const event = { type: 'metrics' as const, step: 3, values: { m: value } };
  await store.events.append(lease, [{ sequence: 1, at: 1, event }]);
  return id;
}

/** The recording in the repository. */
export function readRecording(): Recording {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Recording;
}

/**
 * Answers from the recording, without an API or a store; a request that is not recorded is answered 500 with its line.
 * With `ECHELON_RECORD=1` a real API answers, and its answers become the recording.
 */
export async function recordedApi(scope: Scope): Promise<{ ids: Scene; connection: string[] }> {
  const isNew = process.env.ECHELON_RECORD === '1';
  const { ids, answers, answer } = isNew
    ? await freshAnswers(scope)
    : { ...readRecording(), answer: undefined };
  const server = createServer(async (request, response) => {
    const line = `${request.method} ${request.url}`;
    if (answer !== undefined) answers[line] = await answer(request.method!, request.url!);
    const { status, body } = answers[line] ?? { status: 500, body: { title: `${line} is not recorded` } };
    const type = status < 400 ? 'application/json' : 'application/problem+json';
    // Of the clock of the test, which may stand still.
    const date = new Date().toUTCString();
    response.writeHead(status, { 'content-type': type, date }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  scope.after(async () => {
    server.close();
    if (isNew) writeFileSync(FILE, `${JSON.stringify({ ids, answers }, null, 1)}\n`);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { ids, connection: ['--url', url, '--token', TOKEN] };
}

/** The scene in a new store, and the answers of a real API to requests about it; each is checked against the OpenAPI document. */
export async function freshAnswers(scope: Scope) {
  const { store } = await storeFor(scope);
  const ids = await recordedScene(store);
  const { call } = await appFor(scope, { store });
  const answers: Recording['answers'] = {};
  const answer = async (method: string, url: string): Promise<RecordedAnswer> => {
    const response = await call(method, url);
    return { status: response.statusCode, body: response.json() };
  };
  return { ids, answers, answer };
}
