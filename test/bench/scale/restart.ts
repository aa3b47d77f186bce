import { setTimeout as pause } from 'node:timers/promises';
import { runAll } from '../../../src/store/redis/errors.ts';
import { createKeys } from '../../../src/store/redis/keys.ts';
import { until } from '../../support/dispatch.ts';
import { markdownTable, spreadOf } from '../harness.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { ENDLESS, fill } from './load.ts';
import type { Outcome, Section } from './section.ts';
import { inMB, setupLine, usedMemory } from './usage.ts';

/*
 * kill -9 of Redis, the api and every dispatcher at once while experiments are queued and running; then all of them
 * start together, as after a loss of power. The cluster continues meanwhile, and records its events.
 */

const RUNNING = 1_000;
const QUEUED = 100_000;
const DISPATCHERS = 3;
const ROUNDS = 3;
/** CPUs of an experiment; the cluster has as many as the running ones take. */
const CPUS = 2;

interface Round {
  redisMs: number;
  apiMs: number;
  /** Until half of the attempts, and all, have an event in Redis that is younger than the restart. */
  halfMs: number;
  allMs: number;
}

/** See {@link Section}. */
export const restart: Section = async () => {
  await using resources = new AsyncDisposableStack();
  const fleet = await startFleet(
    resources,
    { ...ENDLESS, delayMs: 1_000, stages: false },
    { cpus: RUNNING * CPUS },
  );
  const setup = await setupLine(fleet.redis, 'npm run bench -- scale --section restart --write');
  let roles = await startRoles(fleet);
  const ids = await fill(fleet, RUNNING);
  await until(async () => (await fleet.store.experiments.counts()).running === RUNNING, 'all run', {
    seconds: 120,
  });
  await fill(fleet, QUEUED);
  const bytes = await usedMemory(fleet.redis);
  const rounds: Round[] = [];
  while (rounds.length < ROUNDS) {
    await pause(2_000);
    for (const role of roles) role.kill('SIGKILL');
    await Promise.all([fleet.server.kill(), ...roles.map(({ ended }) => ended)]);
    const start = performance.now();
    const startedAt = Date.now();
    const server = fleet.server.start().then(() => performance.now() - start);
    const starting = startRoles(fleet);
    const redisMs = await server;
    const apiMs = await answering(fleet, start);
    const { halfMs, allMs } = await followed(fleet, { ids, start, startedAt });
    roles = await starting;
    rounds.push({ redisMs, apiMs, halfMs, allMs });
    console.log(JSON.stringify(rounds.at(-1)));
  }
  return toOutcome(rounds, { setup, bytes });
};

function startRoles(fleet: Fleet) {
  return Promise.all([fleet.startApi(), ...Array.from({ length: DISPATCHERS }, fleet.startDispatcher)]);
}

/** When the api first answers a page of the queue, ms after `start`. */
async function answering({ url, tokens }: Fleet, start: number): Promise<number> {
  const headers = { authorization: `Bearer ${tokens[0]}` };
  await until(
    () =>
      fetch(`${url}/v1/queues`, { headers }).then(
        ({ ok }) => ok,
        () => false,
      ),
    'the api answers',
    { seconds: 120 },
  );
  return performance.now() - start;
}

async function followed(
  { redis }: Fleet,
  { ids, start, startedAt }: { ids: readonly string[]; start: number; startedAt: number },
): Promise<{ halfMs: number; allMs: number }> {
  const keys = createKeys('echelon');
  let waiting = ids;
  let halfMs = 0;
  while (waiting.length > 0) {
    if (performance.now() - start > 180_000) throw new Error(`${waiting.length} attempts are not followed`);
    const asked = redis.pipeline();
    for (const id of waiting) asked.xrevrange(keys.events(id), '+', '-', 'COUNT', 1);
    const replies = (await runAll(asked)) as [string, string[]][][];
    waiting = waiting.filter((_id, at) => {
      const fields = replies[at]![0]![1];
      return Number(fields[fields.indexOf('a') + 1]) < startedAt;
    });
    if (halfMs === 0 && waiting.length <= ids.length / 2) halfMs = performance.now() - start;
    await pause(100);
  }
  return { halfMs, allMs: performance.now() - start };
}

function toOutcome(rounds: readonly Round[], { setup, bytes }: { setup: string; bytes: number }): Outcome {
  const rows = (
    [
      ['Redis answers', 'redisMs'],
      ['the api answers a page of the queue', 'apiMs'],
      ['half of the attempts are followed', 'halfMs'],
      ['every attempt is followed', 'allMs'],
    ] as const
  ).map(([what, field]) => [
    what,
    spreadOf(
      rounds.map((round) => round[field] / 1000),
      1,
    ),
  ]);
  const text = `${setup}

${QUEUED.toLocaleString('en')} queued and ${RUNNING.toLocaleString('en')} running, ${inMB(bytes)} MB of data in Redis. Redis, the api and ${DISPATCHERS} dispatchers are killed with SIGKILL and started together. An attempt
is followed once Redis has an event of it that is younger than the restart. No lease is taken over before it expires, which takes up to 15 s.

${markdownTable(['after the start of all processes', 's'], rows)}`;
  return { text, figures: {} };
}
