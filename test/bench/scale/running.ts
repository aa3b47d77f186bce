import { setTimeout as pause } from 'node:timers/promises';
import type { RoleProcess } from '../../support/system.ts';
import { markdownTable, quantile, spreadOf } from '../harness.ts';
import { PROBED, startProbe } from './event-lag.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { ENDLESS, fill } from './load.ts';
import type { Outcome, Section } from './section.ts';
import { cpuShares, setupLine, usageOf, usedMemory } from './usage.ts';

/*
 * Running attempts, each with one event a second, on one dispatcher and on three. The count grows until the events of
 * the median attempt are a second late.
 */

const COUNTS = [10, 100, 300, 1_000, 2_000, 4_000];
const WINDOWS = 3;
const WINDOW_MS = 3_000;
const LATE_MS = 1_000;
/** The share of a core, in %, that 100 attempts of one dispatcher should take at most. */
const TARGET = 2;
/** The launches of one step may take so long. */
const LAUNCH_MS = 90_000;

interface Point {
  dispatchers: number;
  attempts: number;
  /** Percent of a core in each window: all dispatchers together, Redis, and the busiest dispatcher. */
  cpu: number[];
  redisCpu: number[];
  busiest: number;
  /** Bytes of an attempt in all dispatchers together, and in Redis. */
  memory: number;
  redisMemory: number;
  lags: number[];
  launchesPerSecond: number;
}

/** See {@link Section}. */
export const running: Section = async () => {
  const points: Point[] = [];
  let setup = '';
  for (const dispatchers of [1, 3]) {
    await using resources = new AsyncDisposableStack();
    const fleet = await startFleet(resources, { ...ENDLESS, delayMs: 1_000, stages: false });
    setup ||= await setupLine(fleet.redis, 'npm run bench -- scale --section running --write');
    points.push(...(await curve(fleet, dispatchers)));
  }
  return toOutcome(points, setup);
};

async function curve(fleet: Fleet, count: number): Promise<Point[]> {
  const dispatchers = await Promise.all(Array.from({ length: count }, fleet.startDispatcher));
  const points: Point[] = [];
  const ids: string[] = [];
  const idle = memoryOf(dispatchers);
  const idleRedis = await usedMemory(fleet.redis);
  for (const attempts of COUNTS) {
    const start = performance.now();
    const added = attempts - ids.length;
    ids.push(...(await fill(fleet, added)));
    if (!(await allRun(fleet, attempts))) break;
    const launchesPerSecond = (1000 * added) / (performance.now() - start);
    const measured = await measure(fleet, dispatchers, ids);
    const point = {
      dispatchers: count,
      attempts,
      launchesPerSecond,
      ...measured,
      memory: (memoryOf(dispatchers) - idle) / attempts,
      redisMemory: ((await usedMemory(fleet.redis)) - idleRedis) / attempts,
    };
    points.push(point);
    console.log(rowOf(point).join('  '));
    if (quantile(point.lags, 0.5) > LATE_MS) break;
  }
  return points;
}

/** Whether so many run within {@link LAUNCH_MS}; if not, the knee is below. */
async function allRun({ store }: Fleet, attempts: number): Promise<boolean> {
  const deadline = performance.now() + LAUNCH_MS;
  while (performance.now() < deadline) {
    if ((await store.experiments.counts()).running === attempts) return true;
    await pause(50);
  }
  console.log(`${attempts} do not all run within ${LAUNCH_MS / 1000} s`);
  return false;
}

async function measure({ server, rayWorkerPid }: Fleet, dispatchers: RoleProcess[], ids: string[]) {
  const pids = [server.pid(), rayWorkerPid, ...dispatchers.map(({ pid }) => pid)];
  await using probe = await startProbe(server.port, ids);
  const windows: number[][] = [];
  while (windows.length < WINDOWS) windows.push(await cpuShares(pids, WINDOW_MS));
  return {
    cpu: windows.map(([, , ...shares]) => shares.reduce((sum, share) => sum + share, 0)),
    redisCpu: windows.map(([redis]) => redis!),
    busiest: Math.max(...windows.flatMap(([, , ...shares]) => shares)),
    lags: probe.lags,
  };
}

function memoryOf(dispatchers: readonly RoleProcess[]): number {
  return dispatchers.reduce((sum, { pid }) => sum + usageOf(pid).rss, 0);
}

const HEAD = [
  'dispatchers',
  'running',
  'dispatchers, % of a core',
  'per 100 attempts',
  'busiest dispatcher',
  'dispatcher memory per attempt',
  'Redis, % of a core',
  'Redis memory per attempt',
  'event lag p50',
  'p99',
  'launches/s',
];

function rowOf({ dispatchers, attempts, cpu, redisCpu, ...rest }: Point): string[] {
  const ms = (q: number) => `${quantile(rest.lags, q)} ms`;
  return [
    String(dispatchers),
    attempts.toLocaleString('en'),
    spreadOf(cpu, 1),
    ((quantile(cpu, 0.5) * 100) / attempts).toFixed(2),
    `${rest.busiest.toFixed(0)} %`,
    `${(rest.memory / 1000).toFixed(0)} kB`,
    spreadOf(redisCpu, 1),
    `${(rest.redisMemory / 1000).toFixed(1)} kB`,
    ms(0.5),
    ms(0.99),
    rest.launchesPerSecond.toFixed(0),
  ];
}

function toOutcome(points: readonly Point[], setup: string): Outcome {
  const one = points.filter(({ dispatchers }) => dispatchers === 1);
  const steady = one.findLast(({ lags }) => quantile(lags, 0.99) < LATE_MS) ?? one[0]!;
  const share = (values: readonly number[]) => (quantile(values, 0.5) * 100) / steady.attempts;
  const knee = (of: number) => {
    const late = points.find((point) => point.dispatchers === of && quantile(point.lags, 0.99) >= LATE_MS);
    return late === undefined
      ? `${COUNTS.at(-1)!.toLocaleString('en')} attempts on ${of} did not reach the knee`
      : `${late.attempts.toLocaleString('en')} attempts on ${of} did (busiest dispatcher ${late.busiest.toFixed(0)} % of a core)`;
  };
  const met = one.find(({ cpu, attempts }) => quantile(cpu, 0.5) * 100 < TARGET * attempts);
  const target = met === undefined ? 'missed' : `met from ${met.attempts.toLocaleString('en')} attempts on`;
  const text = `${setup}

Each attempt has one event a second. The cluster is a stand-in process on the same two cores. CPU is the median of ${WINDOWS} windows of ${WINDOW_MS / 1000} s
with its spread. Event lag is the time from the event at the ray-worker until Redis announces it, for ${PROBED} of the attempts.
Memory is the growth since the start, which includes what the runtime has reserved.

${markdownTable(HEAD, points.map(rowOf))}

The knee is the first count with a p99 of a second: ${knee(1)}; ${knee(3)}. The target on one dispatcher,
${TARGET} % of a core per 100 attempts, is ${target}.`;
  return {
    text,
    figures: {
      attempts: steady.attempts,
      cpuPer100: share(steady.cpu),
      redisCpuPer100: share(steady.redisCpu),
      dispatcherKB: steady.memory / 1000,
      redisKB: steady.redisMemory / 1000,
    },
  };
}
