import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { createReconciler } from '../../../src/dispatch/placement/reconcile.ts';
import { createExperimentsQueue } from '../../../src/queue/experiments-queue.ts';
import { QUIET, until } from '../../support/dispatch.ts';
import { partialStore } from '../../support/partial-store.ts';
import { redisFor } from '../../support/redis.ts';

const LISTS = ['wait', 'active', 'delayed', 'prioritized', 'marker', 'meta', 'stalled', 'events', 'id'];
const KEYS = [...LISTS, 'stalled-check', 'exp-active:lock'];
const HASHES = ['queued', 'waiting', 'active'];

/* Fails if a job counts as present because its hash exists: BullMQ then never delivers it, and refuses another one. */
for (const lost of [...KEYS, ...HASHES.map((id) => `exp-${id}`)])
  test(`all experiments are received, and again for a retry, after BullMQ's key ${lost} alone was lost`, async (t) => {
    const server = await redisFor(t, { appendfsync: 'no' });
    const redis = new Redis(server.url);
    const states = new Map<string, 'queued' | 'allocated'>();
    const queue = createExperimentsQueue({
      redis,
      prefix: '{test}',
      onError() {},
      statesOf: async (ids) =>
        new Map(ids.flatMap((id) => (states.has(id) ? [[id, states.get(id)!] as const] : []))),
    });
    const inState = (state: string) => [...states].flatMap(([id, its]) => (its === state ? [id] : []));
    const reconcile = createReconciler({
      queue,
      step: 100,
      releaseMs: 0,
      log: QUIET,
      store: partialStore({
        queue: { ids: async () => inState('queued') },
        attempts: { allocated: async () => inState('allocated') },
      }),
    });
    const received: string[] = [];
    const held = Promise.withResolvers<void>();
    const serving = queue.serve(
      async (id) => {
        if (states.get(id) !== 'allocated') return states.has(id) ? 'queued' : 'complete';
        states.delete(id);
        received.push(id);
        await held.promise;
        return 'complete';
      },
      { concurrency: 1, lockMs: 1_000 },
    );
    t.after(async () => {
      await serving.close(0);
      await queue.close();
      redis.disconnect();
    });
    const allocate = async (id: string) => {
      states.set(id, 'allocated');
      await queue.release(id);
    };
    const receives = (id: string, times: number) =>
      until(
        async () => {
          await reconcile();
          return received.filter((one) => one === id).length === times;
        },
        `${id} is received ${times} times`,
        { instead: () => received },
      );

    for (const state of HASHES) states.set(`exp-${state}`, 'queued');
    await queue.enqueue([...states.keys()]);
    await allocate('exp-active');
    await receives('exp-active', 1);
    await allocate('exp-waiting');
    await redis.del(`{test}:bull:experiments:${lost}`);
    held.resolve();
    await receives('exp-waiting', 1);
    await reconcile();
    await allocate('exp-queued');
    await receives('exp-queued', 1);
    // The next attempts.
    for (const state of HASHES) states.set(`exp-${state}`, 'queued');
    await queue.enqueue([...states.keys()]);
    for (const state of HASHES) await allocate(`exp-${state}`);
    for (const state of HASHES) await receives(`exp-${state}`, 2);
    assert.deepEqual(await reconcile(), { added: 0, released: 0 });
    assert.equal(received.length, 6);
    const left = async () => Object.entries(await queue.counts()).filter(([, count]) => count > 0);
    await until(async () => (await left()).length === 0, 'no job is left', { instead: left });
  });
