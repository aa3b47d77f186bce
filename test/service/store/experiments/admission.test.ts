import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeChild } from '../../../../src/plan/sweep.ts';
import { admitted } from '../../../../src/store/experiments/admission.ts';
import { claimed, coded, storeFor, submitInput } from '../../../support/store.ts';
import { chainInput, expandAll, sweepInput, sweepRequest } from '../../../support/sweep.ts';

const told = { projectField: '/project', maxQueued: 20_000 };

test('each answer of a step is its id or its error', () => {
  assert.deepEqual(admitted(['ok', 'exp-a', '1'], told), { id: 'exp-a', created: true });
  assert.deepEqual(admitted(['ok', 'exp-a', '0'], told), { id: 'exp-a', created: false });
  assert.throws(() => admitted(['conflict'], told), coded('idempotency-conflict'));
  assert.throws(() => admitted(['full'], told), coded('store-full'));
  assert.throws(() => admitted(['no-project'], told), coded('invalid-spec'));
  assert.throws(() => admitted(['queue-full'], told), /20,000/);
  const note = JSON.stringify({ by: 'ann', at: 1, reason: 'moving' });
  assert.throws(() => admitted(['closed', note], told), /^EchelonError: ann closed the queue: moving\. /);
});

test('a project that floods the line is refused at its number, and leaves the others their room', async (t) => {
  const { store } = await storeFor(t, { limits: { queuedOfProject: 3 } });
  const submit = (project: string, key?: string) =>
    store.experiments.submit(
      submitInput({ project, ...(key && { idempotency: { name: key, digest: 'd' } }) }),
    );
  const first = await submit('flood', 'k');
  for (let at = 1; at < 3; at += 1) await submit('flood');
  // Fails if nothing is counted.
  await assert.rejects(submit('flood'), coded('queue-full'));
  assert.equal((await store.experiments.counts('flood')).queued, 3);
  assert.equal((await submit('flood', 'k')).id, first.id, 'what was accepted is answered again');
  assert.ok((await submit('other')).created);
  await store.experiments.cancel(first.id, 'makes room');
  assert.ok((await submit('flood')).created);
});

test('children of sweeps count, those that are not made yet too', async (t) => {
  const { store } = await storeFor(t, { limits: { queuedOfProject: 5 } });
  const sweep = (count: number, project: string) =>
    store.sweeps.create(sweepInput(sweepRequest(count), { project }));
  await store.experiments.submit(submitInput({ project: 'flood' }));
  await assert.rejects(sweep(5, 'flood'), coded('queue-full'));
  assert.ok((await sweep(3, 'flood')).created);
  // Fails where only those that wait already are counted.
  await assert.rejects(sweep(2, 'flood'), coded('queue-full'));
  assert.ok((await sweep(1, 'flood')).created);
  assert.ok((await sweep(5, 'other')).created);
});

test('children of sweeps count however many sweeps of others wait to be made', async (t) => {
  const { store } = await storeFor(t, { limits: { queuedOfProject: 5 } });
  const sweep = (count: number, project: string) =>
    store.sweeps.create(sweepInput(sweepRequest(count), { project }));
  await Promise.all(Array.from({ length: 105 }, (_, at) => sweep(1, `other-${at % 30}`)));
  assert.ok((await sweep(4, 'flood')).created);
  // Fails where the sweeps of others are counted among those that are looked at.
  await assert.rejects(sweep(4, 'flood'), coded('queue-full'));
});

test('children that are not made yet count however many sweeps they are of, for a submission too', async (t) => {
  const { store } = await storeFor(t, { limits: { queuedOfProject: 130 } });
  const sweep = () => store.sweeps.create(sweepInput(sweepRequest(1), { project: 'flood' }));
  for (let at = 0; at < 130; at += 1) await sweep();
  // Fails where only some of the sweeps are looked at.
  await assert.rejects(sweep(), coded('queue-full'));
  // Fails if a submission counts only queued experiments.
  await assert.rejects(store.experiments.submit(submitInput({ project: 'flood' })), coded('queue-full'));
  assert.ok((await store.experiments.submit(submitInput({ project: 'other' }))).created);
});

test('the count follows what sweeps make, give up, run again and cancel', async (t) => {
  const { store, redis } = await storeFor(t, { limits: { queuedOfProject: 4 } });
  const toCome = async () => Number((await redis.hget('{echelon}:to-come', 'swept')) ?? 0);
  const { id } = await store.sweeps.create(chainInput([undefined, 0, undefined, 2]));
  assert.equal(await toCome(), 4);
  const [first, third] = await expandAll(store, id);
  assert.equal(await toCome(), 2);
  await store.attempts.end(await claimed(store, first!), { to: 'failed', reason: '' });
  await store.sweeps.release(id, makeChild);
  assert.equal(await toCome(), 1, 'the child of the failed one is given up');
  await store.experiments.submit(submitInput({ project: 'swept' }));
  const rerun = async () => {
    const sweep = (await store.sweeps.get(id))!;
    return store.sweeps.rerunChildren(sweep, await store.sweeps.children(sweep, 0, 4), makeChild);
  };
  // Two are queued and one will follow; the failed child and its dependent would make five.
  const before = await store.sweeps.get(id);
  // Fails where a re-run is not counted.
  await assert.rejects(rerun(), coded('queue-full'));
  assert.deepEqual(await store.sweeps.get(id), before);
  const lease = await claimed(store, third!);
  await store.attempts.confirm(lease);
  await store.attempts.end(lease, { to: 'succeeded', reason: '' });
  assert.equal((await rerun()).length, 1);
  assert.equal(await toCome(), 2);
  await store.sweeps.cancel(id, 'enough');
  assert.equal(await toCome(), 0);
  assert.equal(await redis.exists('{echelon}:to-come'), 0);
});

// Fails where what takes work in does not check for closed queues.
for (const [what, target] of [
  ['the queue of all projects', { kind: 'all' }],
  ['a project', { kind: 'project', name: 'old' }],
] as const)
  test(`while ${what} is closed, new work is refused and accepted work continues`, async (t) => {
    const { store } = await storeFor(t);
    const submit = (project: string, key?: string) =>
      store.experiments.submit(
        submitInput({ project, ...(key && { idempotency: { name: key, digest: 'd' } }) }),
      );
    const sweep = () => store.sweeps.create(sweepInput(sweepRequest(2), { project: 'old' }));
    const [early, first] = [await submit('old', 'k'), await sweep()];
    await store.queue.setClosed(target, { by: 'ann', at: 1, reason: null });
    await assert.rejects(submit('old'), coded('queue-closed'));
    await assert.rejects(sweep(), coded('queue-closed'));
    assert.equal((await submit('old', 'k')).id, early.id, 'a repeated request is answered again');
    const other = submit('other');
    if (target.kind === 'all') await assert.rejects(other, coded('queue-closed'));
    else assert.ok((await other).created);
    assert.equal((await store.sweeps.expand(first.id, makeChild)).made.length, 2);
    await claimed(store, early.id);
    await store.queue.setClosed(target, null);
    assert.ok((await submit('old')).created);
  });
