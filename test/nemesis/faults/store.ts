import { setTimeout as delay } from 'node:timers/promises';
import { TEST_INSTALLATION, until } from '../../support/dispatch.ts';
import type { World } from '../world.ts';
import { between, type Fault, pick } from './fault.ts';
import { oneAtATime } from './restarts.ts';

/**
 * Settings of Redis under which accepted work could be lost. Not those that lose it here: `appendonly no` ends the file, and
 * without `noeviction`, a Redis without memory deletes records.
 */
const UNFIT = [
  ['appendfsync', 'everysec', 'always'],
  ['appendfsync', 'no', 'always'],
  ['no-appendfsync-on-rewrite', 'yes', 'no'],
  ['aof-load-truncated', 'yes', 'no'],
] as const;

/** The queue's keys, as BullMQ names them, and one for the key of a random job. */
const A_JOB = 'a job';
const QUEUE_KEYS = ['delayed', 'wait', 'prioritized', 'active', 'marker', 'stalled', 'meta', A_JOB];

const INSTALLATION = '{echelon}:archive:id';
/** An api that answers checks its Redis many times in it. */
const NOTICED_MS = 20_000;
const POLL_MS = 50;

/** The answer of the api in words: its status, or the code of its refusal. Undefined: no answer. */
async function answerOf(world: World, path: string, init: RequestInit = {}): Promise<string | undefined> {
  const { url, token } = world.api;
  const headers = { authorization: `Bearer ${token}` };
  try {
    const answer = await fetch(`${url}${path}`, { ...init, headers, signal: AbortSignal.timeout(2_000) });
    const body = (await answer.json().catch(() => ({}))) as { code?: string };
    return answer.ok ? String(answer.status) : (body.code ?? String(answer.status));
  } catch {
    return undefined;
  }
}

/** Waits until the api knows the fault, and then tries a write for `ms`. Notes what was not refused. */
async function expectRefusal(world: World, code: string, ms: number): Promise<void> {
  const noticed = performance.now() + NOTICED_MS;
  let ready: string | undefined;
  while (ready !== code && performance.now() < noticed) {
    ready = (await answerOf(world, '/readyz')) ?? ready;
    await delay(POLL_MS);
  }
  // Another fault may keep the api from answering.
  if (ready !== code && ready !== '200') return;
  if (ready === '200') world.admitted.push(`the api is ready after ${NOTICED_MS} ms of ${code}`);
  for (const end = performance.now() + ms; performance.now() < end; await delay(POLL_MS)) {
    const answer = await answerOf(world, '/v1/queues/_all/resume', { method: 'POST' });
    if (answer?.startsWith('2')) world.admitted.push(`a write got ${answer} during ${code}`);
  }
}

/** Breaks something of Redis, and repairs it after the api has refused requests for a while. */
function struck(world: World, code: string, { breaks, repairs, ms }: Strike): Promise<void> {
  return oneAtATime(world.bench, async () => {
    const broken = await breaks().catch(() => undefined); // another fault may keep Redis from answering
    if (broken !== undefined) await expectRefusal(world, code, ms);
    await until(() => repairs().catch(() => undefined), 'Redis is repaired');
  });
}

interface Strike {
  breaks(): Promise<unknown>;
  repairs(): Promise<unknown>;
  ms: number;
}

/** Redis loses settings or keys, or is another one, and the archive's bucket answers wrongly. */
export const STORE_FAULTS: readonly Fault[] = [
  {
    kind: 'Redis: a setting under which it may lose accepted work',
    outage: true,
    strike(world, random) {
      const { redis } = world.bench;
      const [name, unfit, fit] = pick(random, UNFIT);
      return struck(world, 'store-misconfigured', {
        breaks: () => redis.config('SET', name, unfit),
        repairs: () => redis.config('SET', name, fit),
        ms: between(random, 500, 3_000),
      });
    },
  },
  {
    kind: 'Redis: it is empty or belongs to another installation, for some seconds',
    outage: true,
    strike(world, random) {
      const { redis } = world.bench;
      const other = random() < 0.5;
      return struck(world, 'store-foreign', {
        breaks: () => (other ? redis.set(INSTALLATION, 'another') : redis.del(INSTALLATION)),
        repairs: () => redis.set(INSTALLATION, TEST_INSTALLATION),
        ms: between(random, 500, 3_000),
      });
    },
  },
  {
    kind: 'bucket: objects are away or cut for seconds',
    outage: false,
    async strike({ objects }, random) {
      const before = [...objects];
      for (const [name, bytes] of before) {
        if (random() < 0.5) objects.delete(name);
        else objects.set(name, bytes.subarray(0, bytes.length / 2));
      }
      await delay(between(random, 500, 8_000));
      for (const [name, bytes] of before) objects.set(name, bytes);
    },
  },
  {
    kind: 'Redis: one key of the BullMQ queue is lost',
    outage: false,
    async strike({ bench: { redis, queue } }, random) {
      // Most jobs are only there.
      const key = random() < 0.4 ? 'delayed' : pick(random, QUEUE_KEYS);
      const job = key === A_JOB ? (await queue.queues[0]!.getJobs(['delayed', 'waiting'], 0, 0))[0]?.id : key;
      const lost = job === undefined ? 0 : redis.del(queue.queues[0]!.toKey(job));
      await Promise.resolve(lost).catch(() => {}); // another fault may have ended Redis
    },
  },
];
