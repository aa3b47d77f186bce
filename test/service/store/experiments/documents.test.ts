import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeChild } from '../../../../src/plan/sweep.ts';
import { patchOf, withPatch } from '../../../../src/store/experiments/documents.ts';
import { storeFor } from '../../../support/store.ts';
import { chainInput, expandAll, sweepInput, sweepRequest } from '../../../support/sweep.ts';

const { redis, store } = await storeFor({ after });

test('documents are restored from the shared ones and their differences', () => {
  const shared = { submitted: { a: 1, b: { c: [1, 2], d: null } }, resolved: { x: 'y' }, defaults: ['/x'] };
  const others = [
    shared,
    { ...shared, submitted: { a: 2, b: { c: [1, 2], d: null } } },
    { ...shared, submitted: { b: { c: [], e: { f: 1 } } } },
    { submitted: { a: null, b: [] }, resolved: {}, defaults: [] },
    { submitted: { a: { b: 1 } }, resolved: { 'x/y~': 1, x: {} }, defaults: ['/x', '/y'] },
  ];
  for (const other of others) {
    assert.deepEqual(withPatch(JSON.stringify(shared), patchOf(shared, other)), other);
  }
  assert.equal(patchOf(shared, { ...shared, resolved: { x: 'y', left: undefined } }), '[]');
});

test('children of a sweep with long variables read as they were made, and none stores the variables', async () => {
  const variables = { WANDB_NOTES: 'x'.repeat(4000), WANDB_TAGS: 'y'.repeat(4000) };
  const request = sweepRequest(30);
  const spec = { ...(request.spec as object), env: variables };
  const input = sweepInput({ ...request, spec: spec as never, axes: { ...request.axes } });
  const { id } = await store.sweeps.create(input);
  const children = await expandAll(store, id);
  const record = (await store.sweeps.get(id))!;
  for (const [index, child] of children.entries()) {
    const { submitted, resolved, defaults } = makeChild(record, [...input.entries[index]!]);
    const read = (await store.experiments.get(child))!;
    assert.deepEqual([read.submitted, read.resolved, read.defaults], [submitted, resolved, defaults]);
    assert.ok((await redis.memory('USAGE', `{echelon}:x:${child}`, 'SAMPLES', 0))! < 2500);
  }
  const listed = await store.experiments.list({ sweep: id, limit: 50 });
  assert.ok(listed.items.every(({ submitted }) => (submitted as { env?: object }).env !== undefined));
  const signals = await store.rules.readSignals(children[3]!, 10);
  assert.deepEqual(signals.resolved, (await store.experiments.get(children[3]!))!.resolved);
});

test('dependent children and reruns share the documents too', async () => {
  const { id } = await store.sweeps.create(chainInput([undefined, 0]));
  const [first] = await expandAll(store, id);
  assert.equal((await store.experiments.get(first!))?.name, 'child 0');
  await redis.hset(`{echelon}:x:${first}`, 'state', 'succeeded', 'cluster', 'lab');
  const [made] = await store.sweeps.release(id, makeChild);
  const released = await store.experiments.get(made!.experiment);
  assert.equal(released?.name, 'child 1');
  assert.deepEqual(released?.submitted, {
    cluster: 'lab',
    engine: 'replay',
    name: 'child 1',
    project: 'swept',
  });

  await redis.hset(`{echelon}:x:${first}`, 'state', 'failed');
  const record = (await store.sweeps.get(id))!;
  const [child] = await store.sweeps.children(record, 0, 1);
  const [again] = await store.sweeps.rerunChildren(record, [child!], makeChild);
  assert.equal((await store.experiments.get(again!.experiment))?.name, 'child 0');
});
