import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { newExperimentId } from '../../src/core/ids.ts';
import { resolveSpec } from '../../src/plan/resolve-spec.ts';
import { createExperimentsQueue } from '../../src/queue/experiments-queue.ts';
import { createKeys } from '../../src/store/redis/keys.ts';
import { submitInput } from '../support/store.ts';
import type { RoleProcess } from '../support/system.ts';
import { cpuShares, type Fleet, rayWorkerProcess, startFleet, usageOf } from './fleet.ts';
import { markdownTable, optionsOf, quantile, say, setupOf, spreadOf } from './harness.ts';

/*
 * What running attempts cost, each with an event a second: CPU and memory of the dispatchers and of Redis, and the lag from an
 * event at the ray-worker until Redis announces it. Ends early when half of the events are a second late.
 */

const WINDOWS = 3;
const WINDOW_MS = 3_000;
const LATE_MS = 1_000;
/** The launches of one step may take so long. */
const LAUNCH_MS = 90_000;
/** Attempts whose events are looked at. */
const PROBED = 20;
const SUBMITTED = { engine: 'local', name: 'bench', estimator: { name: 'hgpo' } } as const;
const { spec: resolved } = resolveSpec(SUBMITTED);

/** Calls of the store that are under way at a time. */
const IN_FLIGHT = 500;

const HEAD = [
  'dispatchers',
  'running',
  'dispatchers, % of a core',
  'busiest dispatcher',
  'dispatcher memory per attempt',
  'Redis, % of a core',
  'Redis memory per attempt',
  'event lag p50',
  'p99',
  'launches/s',
];

/** `--counts`, `--dispatchers` (numbers of attempts and dispatchers, by comma). */
export async function run(args: readonly string[]): Promise<void> {
  const options = optionsOf(args, { counts: '10,100,300,1000,2000,4000', dispatchers: '1,3' });
  const [counts, fleets] = [options.counts, options.dispatchers].map((list) => list.split(',').map(Number));
  const rows: string[][] = [];
  for (const dispatchers of fleets!) {
    await using resources = new AsyncDisposableStack();
    const driver = { steps: 1e9, delayMs: 1_000, stages: false };
    const fleet = await startFleet(resources, rayWorkerProcess(resources, driver));
    console.log(await setupOf(fleet.redis));
    rows.push(...(await curve(fleet, dispatchers, counts!)));
  }
  console.log(markdownTable(HEAD, rows));
}

async function curve(fleet: Fleet, count: number, counts: readonly number[]): Promise<string[][]> {
  const dispatchers = await Promise.all(Array.from({ length: count }, fleet.startDispatcher));
  const rows: string[][] = [];
  const ids: string[] = [];
  const [idle, idleRedis] = [await memoryOf(dispatchers), await usedMemory(fleet.redis)];
  for (const attempts of counts) {
    const start = performance.now();
    const added = attempts - ids.length;
    ids.push(...(await submit(fleet, added)));
    if (!(await allRun(fleet, attempts))) break;
    const launches = (1000 * added) / (performance.now() - start);
    const { cpu, redisCpu, busiest, lags } = await measure(fleet, dispatchers, ids);
    const perHundred = cpu.map((share) => (100 * share) / attempts);
    say({
      what: `dispatchers (${count}) for each 100 of ${attempts} running attempts`,
      unit: '% of a core',
      values: perHundred,
      // A few attempts do not share the cost of being there.
      ...(attempts >= 1_000 && count === 1 && { most: 2 }),
    });
    const perAttempt = (bytes: number, figures: number) => `${(bytes / attempts / 1000).toFixed(figures)} kB`;
    rows.push([
      String(count),
      attempts.toLocaleString('en'),
      spreadOf(cpu, 1),
      `${busiest.toFixed(0)} %`,
      perAttempt((await memoryOf(dispatchers)) - idle, 0),
      spreadOf(redisCpu, 1),
      perAttempt((await usedMemory(fleet.redis)) - idleRedis, 1),
      ...[0.5, 0.99].map((q) => `${quantile(lags, q)} ms`),
      launches.toFixed(0),
    ]);
    if (quantile(lags, 0.5) > LATE_MS) break;
  }
  return rows;
}

/** Queues so many experiments by the store's own step, each with its job. Gives their ids. */
async function submit({ redis, store }: Fleet, count: number): Promise<string[]> {
  const options = { redis, prefix: '{echelon}', onError: () => {}, statesOf: store.queue.states };
  const queue = createExperimentsQueue(options);
  const ids: string[] = [];
  for (let left = count; left > 0; left -= IN_FLIGHT) {
    const added = Array.from({ length: Math.min(IN_FLIGHT, left) }, newExperimentId);
    await Promise.all(
      added.map((id) => store.experiments.submit(submitInput({ id, submitted: SUBMITTED, resolved }))),
    );
    await queue.enqueue(added);
    ids.push(...added);
  }
  await queue.close();
  return ids;
}

/** Whether so many run within {@link LAUNCH_MS}. */
async function allRun({ store }: Fleet, attempts: number): Promise<boolean> {
  const deadline = performance.now() + LAUNCH_MS;
  while (performance.now() < deadline) {
    if ((await store.experiments.counts()).running === attempts) return true;
    await pause(50);
  }
  console.log(`${attempts} do not all run within ${LAUNCH_MS / 1000} s`);
  return false;
}

async function measure({ server }: Fleet, dispatchers: readonly RoleProcess[], ids: readonly string[]) {
  await using probe = await startProbe(server.port, ids);
  const pids = [server.pid(), ...dispatchers.map(({ pid }) => pid)];
  const windows: number[][] = [];
  while (windows.length < WINDOWS) windows.push(await cpuShares(pids, WINDOW_MS));
  return {
    cpu: windows.map(([, ...shares]) => shares.reduce((sum, share) => sum + share, 0)),
    redisCpu: windows.map(([redis]) => redis!),
    busiest: Math.max(...windows.flatMap(([, ...shares]) => shares)),
    lags: probe.lags,
  };
}

/** Notes for some of the attempts how old each of their events is when Redis announces it. */
async function startProbe(port: number, ids: readonly string[]) {
  const [listener, reader] = [new Redis(port), new Redis(port)];
  const keys = createKeys('echelon');
  const every = Math.max(1, Math.floor(ids.length / PROBED));
  const probed = ids.filter((_id, at) => at % every === 0);
  const streams = new Map(probed.map((id) => [keys.changed(id), keys.events(id)]));
  const lags: number[] = [];
  const note = async (stream: string) => {
    const at = Date.now();
    const [entry] = await reader.xrevrange(stream, '+', '-', 'COUNT', 1);
    const fields = entry?.[1] ?? [];
    lags.push(at - Number(fields[fields.indexOf('a') + 1]));
  };
  listener.on('message', (channel: string) => {
    note(streams.get(channel)!).catch(() => {}); // the probe has ended
  });
  await listener.subscribe(...streams.keys());
  return {
    lags,
    async [Symbol.asyncDispose]() {
      listener.disconnect();
      await reader.quit();
    },
  };
}

async function memoryOf(roles: readonly RoleProcess[]): Promise<number> {
  const usages = await Promise.all(roles.map(({ pid }) => usageOf(pid)));
  return usages.reduce((sum, { rss }) => sum + rss, 0);
}

/** Memory of a Redis that its data uses. */
async function usedMemory(redis: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
}
