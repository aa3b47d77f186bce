import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { NumberedEvent } from '../../../src/core/events.ts';
import { newCommandId } from '../../../src/core/ids.ts';
import { makeChild } from '../../../src/plan/sweep.ts';
import { createKeys } from '../../../src/store/redis/keys.ts';
import { claimed, clusterRecord, running, type Scope, storeFor, submitInput } from '../../support/store.ts';
import { chainInput, expandAll, sweepInput, sweepRequest } from '../../support/sweep.ts';

/*
 * A wake-up is a hint: a process that misses one polls later, so no other test fails without it. Each
 * of these fails, by itself, where its step in Redis does not say whom it wakes.
 */

const CLUSTER = clusterRecord({ address: '', token: '' });
const PAUSE = { reason: null, by: 'an operator', at: 1 };

/** A store, and the topics that its steps have woken since the last question. */
async function listening(t: Scope) {
  const { store, redis } = await storeFor(t);
  const { wake } = createKeys('echelon');
  const subscriber = redis.duplicate();
  t.after(async () => subscriber.disconnect());
  await subscriber.subscribe(wake);
  let topics: string[] = [];
  let marked = Promise.withResolvers<void>();
  subscriber.on('message', (_channel: string, topic: string) => {
    if (topic === 'mark') marked.resolve();
    else topics.push(topic);
  });
  const woken = async (): Promise<string[]> => {
    marked = Promise.withResolvers<void>();
    await redis.publish(wake, 'mark');
    await marked.promise;
    const heard = [...new Set(topics)].sort();
    topics = [];
    return heard;
  };
  return { store, woken };
}

function batch(): NumberedEvent {
  const data = Buffer.from('a batch');
  const digest = createHash('sha256').update(data).digest('hex');
  const place = { step: 1, batch: 1, index: 0, count: 1, rows: 3 };
  return {
    sequence: 1,
    at: 0,
    event: { type: 'batch', ...place, digest, bytes: data.length },
    data,
  };
}

test('each change of an experiment wakes the process that continues with it', async (t) => {
  const { store, woken } = await listening(t);
  const { id } = await store.experiments.submit(submitInput());
  assert.deepEqual(await woken(), ['queue'], 'submit');
  const lease = await claimed(store, id);
  assert.deepEqual(await woken(), [], 'claim');
  await store.attempts.confirm(lease);
  await store.events.append(lease, [batch()]);
  assert.deepEqual(await woken(), ['batch'], 'append');
  await store.attempts.release([{ ...lease, token: 'of another' }]);
  assert.deepEqual(await woken(), [], 'release of what is not held');
  await store.attempts.release([lease]);
  assert.deepEqual(await woken(), ['lease'], 'release');
  await store.experiments.cancel(id, 'enough');
  assert.deepEqual(await woken(), ['cancel'], 'cancel of a running experiment');
  await store.attempts.end(lease, { to: 'cancelled', reason: 'done' });
  assert.deepEqual(await woken(), ['queue'], 'end');
});

test('a change of a queued experiment wakes the scheduler', async (t) => {
  const { store, woken } = await listening(t);
  const [first, second] = [
    await store.experiments.submit(submitInput()),
    await store.experiments.submit(submitInput()),
  ];
  const deadline = new Date(Date.now() - 1000).toISOString();
  await store.experiments.submit(submitInput({ resolved: { engine: 'replay', priority: 0, deadline } }));
  await woken();
  await store.queue.setPriority(first.id, 5);
  assert.deepEqual(await woken(), ['queue'], 'a change of priority');
  await store.experiments.cancel(second.id, 'not needed');
  assert.deepEqual(await woken(), ['queue'], 'cancel of a queued experiment');
  assert.equal((await store.experiments.failOverdue(10)).failed.length, 1);
  assert.deepEqual(await woken(), ['queue'], 'a deadline');
});

test('what a rule stops is carried out at once', async (t) => {
  const { store, woken } = await listening(t);
  const { experiment } = await running(store);
  await woken();
  const { cursor, last } = await store.rules.readSignals(experiment, 100);
  const stop = { rule: 'r', reason: 'rule r' };
  const done = await store.rules.advance({
    experiment,
    cursor,
    last,
    memory: {},
    due: null,
    fired: [],
    stop,
  });
  assert.ok(done.outcome === 'ok' && done.stopped);
  assert.deepEqual(await woken(), ['cancel']);
});

test('a change of a cluster’s settings wakes the scheduler', async (t) => {
  const { store, woken } = await listening(t);
  await store.clusters.put(CLUSTER);
  await woken();
  await store.clusters.setDraining('local', true);
  assert.deepEqual(await woken(), ['queue'], 'a drain');
  await store.clusters.set('local', { backfill: true });
  assert.deepEqual(await woken(), ['queue'], 'backfill');
  await store.queue.setPaused({ kind: 'all' }, PAUSE);
  assert.deepEqual(await woken(), ['queue'], 'a pause');
});

test('a command wakes who carries it out, and the next one when it is over or let go', async (t) => {
  const { store, woken } = await listening(t);
  const id = newCommandId();
  await store.commands.create({ id, cluster: 'local', kind: 'drain', request: {}, secret: null });
  assert.deepEqual(await woken(), ['command'], 'a new one');
  for (const last of [false, true]) {
    const answer = await store.commands.claim({ id, dispatcher: 'd', leaseMs: 60_000 });
    assert.ok(answer.outcome === 'claimed');
    await woken();
    if (last) await store.commands.end(answer.claimed.lease, { state: 'succeeded', problems: [] });
    else await store.commands.renew(answer.claimed.lease, 0);
    assert.deepEqual(await woken(), ['command'], last ? 'the end' : 'let go');
  }
});

test('a sweep wakes the sweep loop, and each child wakes the scheduler', async (t) => {
  const { store, woken } = await listening(t);
  const { id } = await store.sweeps.create(sweepInput(sweepRequest(1)));
  assert.deepEqual(await woken(), ['sweep'], 'a new one');
  const [child] = await expandAll(store, id);
  assert.deepEqual(await woken(), ['queue'], 'its children');
  await store.attempts.end(await claimed(store, child!), { to: 'failed', reason: '' });
  await woken();
  const record = await store.sweeps.get(id);
  const children = await store.sweeps.children(record!, 0, 10);
  assert.equal((await store.sweeps.rerunChildren(record!, children, makeChild)).length, 1);
  assert.deepEqual(await woken(), ['queue'], 'a child that runs again');
  await store.sweeps.cancel(id, 'enough');
  assert.deepEqual(await woken(), ['sweep'], 'the end of it');
});

test('the end of a child wakes who makes those that wait for it', async (t) => {
  const { store, woken } = await listening(t);
  const { id } = await store.sweeps.create(chainInput([undefined, 0]));
  const [child] = await expandAll(store, id);
  const lease = await claimed(store, child!);
  await store.attempts.confirm(lease);
  await woken();
  await store.attempts.end(lease, { to: 'succeeded', reason: '' });
  assert.deepEqual(await woken(), ['queue', 'sweep'], 'the end');
  assert.equal((await store.sweeps.release(id, makeChild)).length, 1);
  assert.deepEqual(await woken(), ['queue'], 'the child that waited');
});
