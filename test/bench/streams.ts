import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { AttemptEvent } from '../../src/core/events.ts';
import type { Archive } from '../../src/store/archive/archive.ts';
import type { Lease } from '../../src/store/attempts/types.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { freePort, startRedis } from '../support/redis.ts';
import { running, submitInput } from '../support/store.ts';
import { optionsOf, setupOf } from './harness.ts';
import type { ApiFigures } from './streams-api.ts';
import type { ClientsAsk, ClientsFigures } from './streams-clients.ts';

/*
 * Many clients of one api process over loopback: what each costs, how long an event takes to all of them, what clients
 * that do not read cost, and how all of them come back at once. Api and clients are processes of their own. Times are
 * information about the machine; counts and bytes are not.
 */

/** Files that a process needs beside its connections. */
const OTHER_FILES = 200;
/** Event streams that one token may open. */
export const PER_TOKEN = 50;
const PROCESSES = 2;

interface Bench {
  store: Store;
  redis: Redis;
  api: Api;
  groups: Clients[];
  tokens: string[];
  clients: number;
  entries: number;
}

/** `--clients N` (2000), `--entries N` of each arm (50), `--rate N` entries/s (10), `--stalled N` clients that do not read (50). */
export async function run(args: readonly string[]): Promise<void> {
  const { clients, entries, rate, stalled } = optionsOf(args, {
    clients: 2000,
    entries: 50,
    rate: 10,
    stalled: 50,
  });
  if (!hasFilesFor(clients)) return;
  await using resources = new AsyncDisposableStack();
  const server = await startRedis({ appendfsync: 'always' });
  resources.defer(() => server.stop());
  const redis = new Redis(server.port, { maxRetriesPerRequest: null });
  const store = createStore({ redis, archive: noArchive() });
  resources.defer(async () => {
    await store.close();
    redis.disconnect();
  });
  const tokens = Array.from(
    { length: Math.ceil(clients / PER_TOKEN) + 1 },
    (_token, at) => `token-of-the-bench-${at}-0123456789`,
  );
  const api = await startApi({ redisPort: server.port, tokens });
  resources.defer(() => api.stop());
  const groups = await Promise.all(Array.from({ length: PROCESSES }, startClients));
  resources.defer(async () => {
    for (const { stop } of groups) await stop();
  });
  const bench = { store, redis, api, groups, tokens, clients, entries };
  console.log(`${await setupOf(redis)}; ${clients} clients, ${entries} entries at ${rate}/s in each arm`);
  const lease = await running(store);
  await arm(bench, {
    name: 'one experiment',
    paths: [`/v1/experiments/${lease.experiment}/events?after=${await endOf(store, lease)}`],
    write: paced(rate, (number) => append([lease], store, number)),
  });
  const hundred: Lease[] = [];
  while (hundred.length < 100) hundred.push(await running(store));
  await arm(bench, {
    name: '100 experiments',
    paths: await Promise.all(
      hundred.map(async (one) => `/v1/experiments/${one.experiment}/events?after=${await endOf(store, one)}`),
    ),
    write: paced(rate / 5, (number) => append(hundred, store, number)),
  });
  await arm(bench, {
    name: 'feed of a project',
    paths: ['/v1/projects/default/events'],
    write: paced(rate, async (number) => {
      await store.experiments.submit(submitInput({ name: stamp(number) }));
    }),
  });
  await comeBack(bench, await running(store));
  await atTheLimit(bench, lease);
  await doNotRead(bench, { lease: await running(store), stalled });
}

/** All clients open, entries are written, all have seen them, all close. */
async function arm(
  bench: Bench,
  { name, paths, write }: { name: string; paths: string[]; write: (entries: number) => Promise<void> },
): Promise<void> {
  const { api, groups, redis, clients, entries } = bench;
  const before = await api.figures();
  const opened = performance.now();
  await askAll(groups, (at) => openOf(bench, at, paths));
  const openMs = performance.now() - opened;
  const open = await api.figures();
  const connections = /connected_clients:(\d+)/.exec(await redis.info('clients'))?.[1];
  const seen = askAll(groups, () => ({ ask: 'seen', entries }));
  await write(entries);
  const figures = merged(await seen);
  const after = await api.figures();
  const closed = performance.now();
  await askAll(groups, () => ({ ask: 'close' }));
  await pause(500);
  const end = await api.figures();
  const frames = figures.latencies.length;
  console.log(`\n${name}`);
  console.log(
    `  open: all in ${openMs.toFixed(0)} ms, ${((open.cpuMs * 1000) / clients).toFixed(0)} µs of CPU each, refused ${JSON.stringify(figures.refused)}`,
  );
  console.log(
    `  memory of a client: ${kB((open.heap - before.heap) / clients)} kB of heap, ${kB((open.rss - before.rss) / clients)} kB of RSS; connections to Redis ${connections} (bench 1)`,
  );
  console.log(
    `  entries: ${frames} frames, ${((after.cpuMs * 1000) / frames).toFixed(1)} µs of CPU each (${(after.cpuMs / entries).toFixed(1)} ms an entry to all), wrong ${figures.wrong}, cut ${figures.cut}`,
  );
  console.log(
    `  to a client: ${shown(figures.latencies)}; to the last of them: ${shown(figures.slowest)}; longest turn ${after.loopMs.toFixed(0)} ms`,
  );
  console.log(
    `  close: ${(performance.now() - closed - 500).toFixed(0)} ms, ${end.cpuMs.toFixed(0)} ms of CPU, longest turn ${end.loopMs.toFixed(0)} ms, heap left ${kB(end.heap - before.heap)} kB`,
  );
}

/** The api dies while events continue. It starts again, and all clients reconnect with their Last-Event-ID. */
async function comeBack(bench: Bench, lease: Lease): Promise<void> {
  const { api, groups, store } = bench;
  const path = `/v1/experiments/${lease.experiment}/events?after=${await endOf(store, lease)}`;
  await askAll(groups, (at) => openOf(bench, at, [path]));
  const first = askAll(groups, () => ({ ask: 'seen', entries: 1 }));
  await append([lease], store, 1);
  await first;
  await api.kill();
  for (let number = 2; number <= 100; number += 1) await append([lease], store, number);
  await api.start();
  const started = performance.now();
  const back = merged(await askAll(groups, () => ({ ask: 'back' })));
  const backMs = performance.now() - started;
  const seen = merged(await askAll(groups, () => ({ ask: 'seen', entries: 100 })));
  const seenMs = performance.now() - started;
  const { cpuMs, loopMs } = await api.figures();
  const refused = { ...back.refused };
  for (const [status, count] of Object.entries(seen.refused))
    refused[status] = (refused[status] ?? 0) + count;
  console.log(
    `\nall reconnect at once, 99 entries late\n  connected after ${backMs.toFixed(0)} ms, all have everything after ${seenMs.toFixed(0)} ms, ${cpuMs.toFixed(0)} ms of CPU, longest turn ${loopMs.toFixed(0)} ms; refused ${JSON.stringify(refused)}, wrong ${back.wrong + seen.wrong}`,
  );
  await askAll(groups, () => ({ ask: 'close' }));
}

async function atTheLimit({ api, tokens }: Bench, { experiment }: Lease): Promise<void> {
  const headers = { authorization: `Bearer ${tokens.at(-1)}` };
  const path = `/v1/experiments/${experiment}/events`;
  const open = async (): Promise<IncomingMessage> => {
    const asked = get({ host: '127.0.0.1', port: api.port, path, headers, agent: false });
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    response.on('error', () => {});
    return response;
  };
  const streams: IncomingMessage[] = [];
  while (streams.length < PER_TOKEN) streams.push(await open());
  const refused = await open();
  const { code, detail } = (await json(refused)) as { code: string; detail: string };
  console.log(
    `\nstream ${PER_TOKEN + 1} of a key: ${refused.statusCode} ${code}, Retry-After ${refused.headers['retry-after']}: ${detail}`,
  );
  for (const stream of streams) stream.destroy();
}

/** Clients that take nothing, while an experiment writes long lines. */
async function doNotRead(bench: Bench, { lease, stalled }: { lease: Lease; stalled: number }): Promise<void> {
  const { api, groups, store, tokens } = bench;
  const before = await api.figures();
  const path = `/v1/experiments/${lease.experiment}/events`;
  await groups[0]!.ask({
    ask: 'open',
    port: api.port,
    clients: Array.from({ length: stalled }, (_client, at) => ({
      path,
      token: tokens[at % (tokens.length - 1)]!,
    })),
    reads: false,
  });
  const started = performance.now();
  let cutMs = 0;
  let most = before;
  let kernel = 0;
  let written = 0;
  for (let number = 1; cutMs === 0; number += 1) {
    // 32 MB are more than the two kernels hold for a connection; then the line is kept alive.
    const events = Array.from({ length: number <= 32 ? 64 : 1 }, () => logOf('x'.repeat(16_000)));
    const first = written + 1;
    await store.events.append(
      lease,
      events.map((event, at) => ({ sequence: first + at, at: 0, event })),
    );
    written += events.length;
    const now = await api.figures();
    if (now.rss > most.rss) most = now;
    if (now.connections === 0) cutMs = performance.now() - started;
    kernel = Math.max(kernel, tcpMemory());
    await pause(number <= 32 ? 0 : 1000);
  }
  console.log(
    `\n${stalled} clients that do not read, ${((written * 16) / 1000).toFixed(0)} MB of log\n  most memory of each in the api: ${kB((most.rss - before.rss) / stalled)} kB of RSS, ${kB((most.external - before.external) / stalled)} kB of it outside the heap; in the kernel, both ends: ${kB(kernel / stalled)} kB; all cut after ${(cutMs / 1000).toFixed(0)} s`,
  );
}

function openOf({ api, groups, tokens, clients }: Bench, group: number, paths: string[]): ClientsAsk {
  const mine = Array.from({ length: clients }, (_client, at) => at).filter(
    (at) => at % groups.length === group,
  );
  return {
    ask: 'open',
    port: api.port,
    clients: mine.map((at) => ({
      path: paths[at % paths.length]!,
      token: tokens[Math.floor(at / PER_TOKEN)]!,
    })),
    reads: true,
  };
}

// What is written

const stamp = (number: number) => `#${number}@${performance.timeOrigin + performance.now()}#`;
const logOf = (line: string): AttemptEvent => ({ type: 'log', source: 'stdout', lines: [line], cutBytes: 0 });

/** Appends one more event to each; it carries the time. */
export async function append(leases: Lease[], store: Store, number: number): Promise<void> {
  await Promise.all(
    leases.map((lease) =>
      store.events.append(lease, [
        { sequence: number, at: 0, event: logOf(`${stamp(number)} ${'x'.repeat(200)}`) },
      ]),
    ),
  );
}

function paced(rate: number, write: (number: number) => Promise<void>) {
  return async (entries: number): Promise<void> => {
    const start = performance.now();
    for (let number = 1; number <= entries; number += 1) {
      await write(number);
      await pause(Math.max(0, start + (number * 1000) / rate - performance.now()));
    }
  };
}

/** The id of its newest entry. */
export async function endOf(store: Store, { experiment }: Lease): Promise<string> {
  return (await store.events.tail(experiment, 1))[0]!.id;
}

// The processes

/** An api in a process of its own. */
export interface Api {
  port: number;
  figures(): Promise<ApiFigures>;
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts an api of the given Redis that knows these tokens. */
export async function startApi({ redisPort, tokens }: { redisPort: number; tokens: string[] }): Promise<Api> {
  const port = await freePort();
  let child: ChildProcess;
  async function end(signal: NodeJS.Signals): Promise<void> {
    const exit = once(child, 'exit');
    child.kill(signal);
    await exit;
  }
  async function start(): Promise<void> {
    child = fork(new URL('streams-api.ts', import.meta.url), [String(redisPort), String(port), ...tokens], {
      execArgv: ['--expose-gc'],
    });
    await once(child, 'message');
  }
  await start();
  return {
    port,
    async figures() {
      const answer = once(child, 'message') as Promise<[ApiFigures]>;
      child.send('figures');
      return (await answer)[0];
    },
    kill: () => end('SIGKILL'),
    start,
    stop: () => end('SIGTERM'),
  };
}

/** Clients in a process of their own. */
export interface Clients {
  ask(message: ClientsAsk): Promise<ClientsFigures>;
  stop(): Promise<void>;
}

/** Starts a process of clients, without any yet. */
export async function startClients(): Promise<Clients> {
  const child = fork(new URL('streams-clients.ts', import.meta.url));
  await once(child, 'spawn');
  return {
    async ask(message) {
      const answer = once(child, 'message') as Promise<[ClientsFigures]>;
      child.send(message);
      return (await answer)[0];
    },
    async stop() {
      const exit = once(child, 'exit');
      child.kill();
      await exit;
    },
  };
}

/** Asks all groups at once and waits for their answers. */
export async function askAll(
  groups: Clients[],
  message: (at: number) => ClientsAsk,
): Promise<ClientsFigures[]> {
  return await Promise.all(groups.map((group, at) => group.ask(message(at))));
}

// What is said

/** Says so, and false, where a process may not open so many files. Node raises its own limit to the hard one. */
export function hasFilesFor(clients: number): boolean {
  const most = /Max open files\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  if (most === undefined || Number(most) >= clients + OTHER_FILES) return true;
  console.error(
    `${clients} clients need ${clients + OTHER_FILES} open files in the api, and this process may open ${most}: run \`ulimit -n ${clients + OTHER_FILES}\` before, or take fewer (--clients N).`,
  );
  process.exitCode = 2;
  return false;
}

/** What all groups have seen together. */
export function merged(parts: ClientsFigures[]): ClientsFigures {
  const refused: Record<string, number> = {};
  for (const part of parts)
    for (const [status, count] of Object.entries(part.refused))
      refused[status] = (refused[status] ?? 0) + count;
  return {
    latencies: parts.flatMap(({ latencies }) => latencies),
    slowest: (parts[0]?.slowest ?? []).map((_slow, at) =>
      Math.max(...parts.map((part) => part.slowest[at] ?? 0)),
    ),
    wrong: parts.reduce((sum, { wrong }) => sum + wrong, 0),
    refused,
    cut: parts.reduce((sum, { cut }) => sum + cut, 0),
  };
}

/** Bytes that the kernel keeps for TCP. */
function tcpMemory(): number {
  return 4096 * Number(/TCP:.* mem (\d+)/.exec(readFileSync('/proc/net/sockstat', 'utf8'))?.[1] ?? 0);
}

function shown(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN).toFixed(1);
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, most ${at(1)} ms`;
}

const kB = (bytes: number) => (bytes / 1000).toFixed(1);

function noArchive(): Archive {
  const unexpected = () => Promise.reject(new Error('nothing here is archived'));
  return { put: unexpected, get: unexpected, remove: unexpected };
}
