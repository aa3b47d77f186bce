import { markdownTable, quantile, spreadOf, timed } from '../harness.ts';
import { type Base, startBase } from './fleet.ts';
import { fill, makeProjects } from './load.ts';
import { createRounds, fillClusters, longestRounds } from './scheduling.ts';
import type { Outcome, Section } from './section.ts';
import { setupLine, usedMemory } from './usage.ts';

/*
 * A queue that grows to a million experiments of 100 projects, each for one GPU. The cluster is full; then a second one is
 * free while every project has used up its quota, which makes a round read as much of the queue as it ever does.
 */

const DEPTHS = [1_000, 10_000, 100_000, 1_000_000];
const PROJECTS = 100;
const ROUNDS = 5;
/** Calls of an operation in one round. */
const CALLS = 30;

interface Point {
  depth: number;
  bytes: number;
  fillPerSecond: number;
  /** Milliseconds of each operation, one figure a round. */
  times: Record<string, number[]>;
  /** The longest command of Redis while they were measured, ms. */
  longest: number;
}

/** See {@link Section}. */
export const queued: Section = async () => {
  await using resources = new AsyncDisposableStack();
  // A rewrite of the file would compete with the measurements for the two cores.
  const base = await startBase(resources, { 'auto-aof-rewrite-percentage': '0' });
  const setup = await setupLine(base.redis, 'npm run bench -- scale --section queued --write');
  const projects = await makeProjects(base.store, PROJECTS);
  await fillClusters(base);
  const empty = await usedMemory(base.redis);
  const points: Point[] = [];
  for (const depth of DEPTHS) {
    const more = depth - (points.at(-1)?.depth ?? 0);
    const ms = await timed(() => fill(base, more, { projects, gpus: 1 }));
    const bytes = ((await usedMemory(base.redis)) - empty) / depth;
    const point = { depth, bytes, fillPerSecond: (1000 * more) / ms, ...(await measure(base, projects)) };
    points.push(point);
    console.log(JSON.stringify(point));
  }
  return toOutcome(points, setup);
};

async function measure(base: Base, projects: readonly string[]) {
  const { store, queue, redis } = base;
  await redis.config('SET', 'slowlog-log-slower-than', '1000');
  await redis.call('SLOWLOG', 'RESET');
  const rounds = createRounds(base);
  const last = async () => (await store.queue.ids(1, (await store.queue.position('')).length - 1))[0]!;
  const farthest = await last();
  let added: string[] = [];
  const steps: Record<string, () => Promise<number>> = {
    'round, cluster full': () => rounds.decide(),
    estimates: async () => rounds.estimate(),
    submit: () => each(async () => void added.push(...(await fill(base, 1, { projects, gpus: 1 })))),
    cancel: () =>
      each(async (at) => {
        await store.experiments.cancel(added[at]!, 'bench');
        await queue.remove([added[at]!]);
      }),
    'page of the queue': () => each(() => store.queue.page({ limit: 100 })),
    'page of a project': () =>
      each(() => store.experiments.list({ limit: 50, state: 'queued', project: projects[7]! })),
    position: () => each(() => store.queue.position(farthest)),
  };
  const times: Record<string, number[]> = {};
  for (let round = -1; round < ROUNDS; round += 1) {
    added = [];
    for (const [name, step] of Object.entries(steps)) {
      const ms = await step();
      if (round >= 0) times[name] = [...(times[name] ?? []), ms]; // the first warms all
    }
  }
  times['round, longest window'] = await longestRounds(base, { projects, rounds: ROUNDS });
  const slow = (await redis.call('SLOWLOG', 'GET', '-1')) as [number, number, number][];
  return { times, longest: Math.max(0, ...slow.map(([, , microseconds]) => microseconds)) / 1000 };
}

async function each(step: (at: number) => Promise<unknown>): Promise<number> {
  const ms = await timed(async () => {
    for (let at = 0; at < CALLS; at += 1) await step(at);
  });
  return ms / CALLS;
}

function toOutcome(points: readonly Point[], setup: string): Outcome {
  const last = points.at(-1)!;
  const names = Object.keys(last.times);
  const row = (name: string, cell: (point: Point) => string) => [name, ...points.map(cell)];
  const rows = [
    ...names.map((name) => row(`${name}, ms`, ({ times }) => spreadOf(times[name]!, 1))),
    row('longest command of Redis, ms', ({ longest }) => longest.toFixed(1)),
    row('Redis memory per queued experiment, B', ({ bytes }) => bytes.toFixed(0)),
    row('filled, experiments/s', ({ fillPerSecond }) => fillPerSecond.toFixed(0)),
  ];
  const growth = names.map((name) => {
    const [least, most] = [points[0]!, last].map(({ times }) => quantile(times[name]!, 0.5));
    return `${name} ${(most! / least!).toFixed(1)} ×`;
  });
  const text = `${setup}

${PROJECTS} projects; the memory includes the BullMQ job. "Cluster full": 16 nodes of 8 GPUs are in use. "Longest window": a second cluster is
free, and every project has used up its quota. Submit and cancel include the job; each is the mean of ${CALLS} calls, in ${ROUNDS} rounds.

${markdownTable(['queued', ...points.map(({ depth }) => depth.toLocaleString('en'))], rows)}

From ${points[0]!.depth.toLocaleString('en')} to ${last.depth.toLocaleString('en')} queued: ${growth.join(', ')}. Memory ends this curve: a million takes ${((last.bytes * last.depth) / 1e9).toFixed(1)} GB.`;
  return { text, figures: { bytes: last.bytes } };
}
