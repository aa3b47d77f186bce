import type { Redis } from 'ioredis';
import { until } from '../../support/dispatch.ts';
import { markdownTable, quantile, spreadOf, timed } from '../harness.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { ENDLESS } from './load.ts';
import type { Outcome, Section } from './section.ts';
import { setupLine, usageOf, usedMemory } from './usage.ts';

/* Sweeps of 10² to 10⁴ children over HTTP, with an api and a dispatcher; the queue is paused, so that no child starts. */

const SIZES = [100, 1_000, 10_000];
const ROUNDS = 3;

interface Point {
  children: number;
  postMs: number[];
  queuedMs: number[];
  cancelMs: number[];
  redisCpuMs: number[];
  bytes: number[];
}

/** See {@link Section}. */
export const sweep: Section = async () => {
  await using resources = new AsyncDisposableStack();
  const fleet = await startFleet(resources, ENDLESS);
  const setup = await setupLine(fleet.redis, 'npm run bench -- scale --section sweep --write');
  await fleet.startApi();
  await fleet.startDispatcher();
  await fleet.store.queue.setPaused({ kind: 'all' }, { by: 'bench', at: Date.now(), reason: null });
  const points: Point[] = [];
  for (const children of SIZES) {
    const point: Point = { children, postMs: [], queuedMs: [], cancelMs: [], redisCpuMs: [], bytes: [] };
    for (let round = 0; round < ROUNDS; round += 1) await measure(fleet, point);
    points.push(point);
    console.log(JSON.stringify(point));
  }
  return toOutcome(points, setup);
};

async function measure({ url, tokens, store, redis, server }: Fleet, point: Point): Promise<void> {
  const { children } = point;
  const headers = { authorization: `Bearer ${tokens[0]}`, 'content-type': 'application/json' };
  const post = async (path: string, body: object): Promise<{ id: string }> => {
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    return (await response.json()) as { id: string };
  };
  const before = { bytes: await usedMemory(redis), cpuMs: usageOf(server.pid()).cpuMs };
  const start = performance.now();
  const { id } = await post('/v1/sweeps', sweepOf(children));
  point.postMs.push(performance.now() - start);
  await until(
    async () => (await store.experiments.counts()).queued === children && (await isIdle(redis, children)),
    'every child is queued with its job',
    { seconds: 120 },
  );
  point.queuedMs.push(performance.now() - start);
  point.redisCpuMs.push(usageOf(server.pid()).cpuMs - before.cpuMs);
  point.bytes.push(((await usedMemory(redis)) - before.bytes) / children);
  const cancelMs = await timed(async () => {
    await post(`/v1/sweeps/${id}/cancel`, {});
    await until(async () => (await store.experiments.counts()).queued === 0, 'every child is cancelled', {
      seconds: 120,
    });
  });
  point.cancelMs.push(cancelMs);
}

async function isIdle(redis: Redis, jobs: number): Promise<boolean> {
  return (await redis.zcard('{echelon}:bull:experiments:delayed')) >= jobs;
}

function sweepOf(children: number) {
  const seeds = Array.from({ length: children / 2 }, (_seed, at) => at);
  return {
    name: 'bench',
    method: 'grid',
    spec: { engine: 'local' },
    axes: { estimator: [{ name: 'hgpo' }, { name: 'grpo' }], 'training.seed': seeds },
  };
}

function toOutcome(points: readonly Point[], setup: string): Outcome {
  const rows = points.map(({ children, postMs, queuedMs, cancelMs, redisCpuMs, bytes }) => [
    children.toLocaleString('en'),
    spreadOf(postMs, 0),
    spreadOf(queuedMs, 0),
    spreadOf(cancelMs, 0),
    ((1000 * quantile(redisCpuMs, 0.5)) / children).toFixed(0),
    spreadOf(bytes, 0),
  ]);
  const head = [
    'children',
    'POST to 202, ms',
    'POST until every child has its job, ms',
    'cancel of all, ms',
    'Redis per child, µs of CPU',
    'Redis memory per child, B',
  ];
  const per = ({ queuedMs, children }: Point) => (1000 * quantile(queuedMs, 0.5)) / children;
  const [first, last] = [points[0]!, points.at(-1)!];
  const text = `${setup}

A grid of two estimators and many seeds, over HTTP, with one api and one dispatcher; the queue is paused. 10,000 children are the most that a
sweep may have. Memory is the growth while the sweep is created.

${markdownTable(head, rows)}

Until every child has its job, a child takes ${per(first).toFixed(0)} µs in a sweep of ${first.children} and ${per(last).toFixed(0)} µs in one of ${last.children.toLocaleString('en')}. Redis ends this curve:
it creates one batch of children after another.`;
  return { text, figures: { usPerChild: per(last), bytes: quantile(last.bytes, 0.5) } };
}
