import { setTimeout as pause } from 'node:timers/promises';
import type { Lease } from '../../../src/store/attempts/types.ts';
import { running } from '../../support/store.ts';
import { markdownTable, quantile } from '../harness.ts';
import {
  type Api,
  append,
  askAll,
  type Clients,
  endOf,
  hasFilesFor,
  merged,
  PER_TOKEN,
  startApi,
  startClients,
} from '../streams.ts';
import { type Base, startBase } from './fleet.ts';
import type { Outcome, Section } from './section.ts';
import { setupLine, usageOf } from './usage.ts';

/*
 * Followers of a few experiments over server-sent events, on one api. Each experiment has an event a second, and each
 * follower reads one experiment. Clients are processes of their own.
 */

const COUNTS = [100, 1_000, 2_000, 5_000, 10_000];
const EXPERIMENTS = 4;
const EVENTS = 15;
const CLIENT_PROCESSES = 2;
const LATE_MS = 1_000;

interface Point {
  followers: number;
  openMs: number;
  /** Bytes of a follower in the api. */
  heap: number;
  rss: number;
  /** Percent of a core. */
  cpu: number;
  redisCpu: number;
  lags: number[];
  loopMs: number;
  wrong: number;
}

/** See {@link Section}. */
export const followers: Section = async () => {
  if (!hasFilesFor(COUNTS.at(-1)!)) throw new Error('too few open files are allowed');
  await using resources = new AsyncDisposableStack();
  const base = await startBase(resources);
  const setup = await setupLine(base.redis, 'npm run bench -- scale --section followers --write');
  const tokens = Array.from(
    { length: COUNTS.at(-1)! / PER_TOKEN },
    (_token, at) => `token-of-the-bench-${at}-0123456789`,
  );
  const points: Point[] = [];
  for (const count of COUNTS) {
    // A new api for each count: its memory is compared with that of the empty one.
    const api = await startApi({ redisPort: base.server.port, tokens });
    const groups = await Promise.all(Array.from({ length: CLIENT_PROCESSES }, startClients));
    points.push(await measure(base, { api, groups, tokens, count }));
    console.log(rowOf(points.at(-1)!).join('  '));
    for (const { stop } of groups) await stop();
    await api.stop();
  }
  return toOutcome(points, setup);
};

interface Arm {
  api: Api;
  groups: Clients[];
  tokens: readonly string[];
  count: number;
}

async function measure({ store, server }: Base, { api, groups, tokens, count }: Arm): Promise<Point> {
  const leases: Lease[] = [];
  while (leases.length < EXPERIMENTS) leases.push(await running(store, { leaseMs: 600_000 }));
  const paths = await Promise.all(
    leases.map(
      async (lease) => `/v1/experiments/${lease.experiment}/events?after=${await endOf(store, lease)}`,
    ),
  );
  const clients = Array.from({ length: count }, (_client, at) => ({
    path: paths[at % EXPERIMENTS]!,
    token: tokens[Math.floor(at / PER_TOKEN)]!,
  }));
  const empty = await api.figures();
  const start = performance.now();
  await askAll(groups, (group) => ({
    ask: 'open',
    port: api.port,
    reads: true,
    clients: clients.filter((_client, at) => at % groups.length === group),
  }));
  const openMs = performance.now() - start;
  const open = await api.figures();
  const redisBefore = usageOf(server.pid()).cpuMs;
  const began = performance.now();
  const seen = askAll(groups, () => ({ ask: 'seen', entries: EVENTS }));
  for (let number = 1; number <= EVENTS; number += 1) {
    await append(leases, store, number);
    await pause(Math.max(0, began + number * 1000 - performance.now()));
  }
  const { latencies: lags, wrong } = merged(await seen);
  const passed = performance.now() - began;
  const { cpuMs, loopMs } = await api.figures();
  return {
    followers: count,
    openMs,
    lags,
    loopMs,
    wrong,
    heap: (open.heap - empty.heap) / count,
    rss: (open.rss - empty.rss) / count,
    cpu: (100 * cpuMs) / passed,
    redisCpu: (100 * (usageOf(server.pid()).cpuMs - redisBefore)) / passed,
  };
}

function rowOf({ followers: count, openMs, lags, ...point }: Point): string[] {
  return [
    count.toLocaleString('en'),
    `${(openMs / 1000).toFixed(1)} s`,
    point.cpu.toFixed(1),
    point.redisCpu.toFixed(1),
    (point.heap / 1000).toFixed(1),
    (point.rss / 1000).toFixed(1),
    ...[0.5, 0.99, 1].map((q) => quantile(lags, q).toFixed(0)),
    point.loopMs.toFixed(0),
    String(point.wrong),
  ];
}

const HEAD = [
  'followers',
  'all open after',
  'api, % of a core',
  'Redis, % of a core',
  'heap per follower, kB',
  'RSS per follower, kB',
  'lag p50, ms',
  'p99, ms',
  'most, ms',
  'longest turn, ms',
  'wrong frames',
];

function toOutcome(points: readonly Point[], setup: string): Outcome {
  const last = points.at(-1)!;
  const late = points.find(({ lags }) => quantile(lags, 0.99) > LATE_MS);
  const per = (value: number) => (value * 1_000) / last.followers;
  const text = `${setup}

One api process with ${EXPERIMENTS} experiments, each with one event a second for ${EVENTS} s. Lag is the time from the append in Redis to the arrival at the
client. The clients are two processes on the same cores. An api opens at most 4,000 event streams by default; the limit is raised here.

${markdownTable(HEAD, points.map(rowOf))}

At ${last.followers.toLocaleString('en')} followers the api takes ${per(last.cpu).toFixed(1)} % of a core per 1,000 frames a second and ${(last.rss / 1000).toFixed(1)} kB of memory per follower.
${late === undefined ? 'No count reached the knee, a p99 of a second.' : `The knee, a p99 of a second, is at ${late.followers.toLocaleString('en')} followers.`} The core of the api ends this curve: it writes every frame itself.`;
  return { text, figures: { cpuPer1000: per(last.cpu), kB: last.rss / 1000 } };
}
