import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type Bench, runsAs, startBench, until } from '../../support/dispatch.ts';
import { ENDLESS } from '../../support/fake-driver.ts';

const HOUR_MS = 3_600_000;

async function nodeOf(bench: Bench, id: string): Promise<string | undefined> {
  const { items } = await bench.store.clusters.allocations('fake');
  return items.find(({ experiment }) => experiment === id)?.node;
}

async function isReported(bench: Bench, node: string): Promise<boolean> {
  const [cluster] = await bench.store.clusters.list(['fake']);
  return cluster!.nodes.some(({ id, draining }) => id === node && draining !== undefined);
}

describe('nodes that Ray drains', () => {
  let bench: Bench;
  before(async () => {
    bench = await startBench({ cpus: 2, nodes: ['a', 'b'] });
    await bench.dispatcher();
  });
  beforeEach(async () => {
    bench.rayWorker.draining.clear();
    await until(
      async () => !(await isReported(bench, 'a')) && !(await isReported(bench, 'b')),
      'no drain is reported',
    );
  });
  after(() => bench.stop());

  test('an experiment leaves a drained node at its next checkpoint and continues elsewhere without a counted attempt', async (t) => {
    const id = await bench.submit({ steps: ENDLESS, delayMs: 50, saves: true }, { maxAttempts: 1 });
    t.after(() => bench.rayWorker.finish(id));
    await bench.comes(id, 'ran', runsAs(1));
    assert.equal(await nodeOf(bench, id), 'a');
    bench.rayWorker.draining.set('a', { remainingMs: HOUR_MS });
    await bench.comes(id, 'ran again', runsAs(2));
    assert.equal(await nodeOf(bench, id), 'b');
    const [first] = await bench.store.attempts.list(id);
    assert.equal(first?.ended?.cause, 'stopped');
    bench.rayWorker.finish(id);
    assert.equal((await bench.reaches(id, 'succeeded')).attempt, 2);
    assert.equal(bench.rayWorker.overlaps(), 0);
  });

  test('an experiment without a checkpoint runs on a drained node until shortly before the deadline', async (t) => {
    const id = await bench.submit({ hang: true }, { maxAttempts: 1 });
    t.after(() => bench.rayWorker.finish(id));
    await bench.comes(id, 'ran', runsAs(1));
    bench.rayWorker.draining.set('a', { remainingMs: null });
    await until(() => isReported(bench, 'a'), 'the drain is reported');
    const other = await bench.submit({ steps: 1 });
    await bench.reaches(other, 'succeeded');
    assert.equal((await bench.store.experiments.get(id))?.attempt, 1);
    bench.rayWorker.draining.set('a', { remainingMs: 1_000 });
    await bench.comes(id, 'ran again', runsAs(2));
    assert.equal(await nodeOf(bench, id), 'b');
  });

  test('nothing new starts on a drained node, and the wait reason names it', async (t) => {
    for (const node of ['a', 'b']) bench.rayWorker.draining.set(node, { remainingMs: null });
    await until(
      async () => (await isReported(bench, 'a')) && (await isReported(bench, 'b')),
      'both are reported',
    );
    const id = await bench.submit({ steps: 1 });
    t.after(() => bench.rayWorker.finish(id));
    const noted = await until(
      async () => (await bench.store.queue.first(1))[0]?.reason ?? undefined,
      'a wait reason',
    );
    assert.equal(
      noted,
      'needs 1 CPU on one node; no node accepts experiments; node a: Ray drains it without a deadline; node b: Ray drains it without a deadline',
    );
    bench.rayWorker.draining.clear();
    await bench.reaches(id, 'succeeded');
  });

  test('an experiment leaves a node that an operator drains, and stays on one that is only cordoned', async (t) => {
    const cordon = { by: 'ann', at: 1, reason: 'new kernel' };
    t.after(() => bench.store.clusters.set('fake', { cordons: null }));
    const id = await bench.submit({ steps: ENDLESS, delayMs: 50, saves: true }, { maxAttempts: 1 });
    t.after(() => bench.rayWorker.finish(id));
    await bench.comes(id, 'ran', runsAs(1));
    await bench.store.clusters.set('fake', { cordons: { a: cordon } });
    const other = await bench.submit({ steps: 1 });
    await bench.reaches(other, 'succeeded');
    assert.deepEqual([(await bench.store.experiments.get(id))?.attempt, await nodeOf(bench, id)], [1, 'a']);
    await bench.store.clusters.set('fake', { cordons: { a: { ...cordon, drain: true } } });
    await bench.comes(id, 'ran again', runsAs(2));
    assert.equal(await nodeOf(bench, id), 'b');
  });

  test('the next attempt prefers another node than the one on which the cluster failed the last attempt', async (t) => {
    const id = await bench.submit({ hang: true }, { maxAttempts: 1 });
    t.after(() => bench.rayWorker.finish(id));
    await bench.comes(id, 'ran', runsAs(1));
    const first = await nodeOf(bench, id);
    bench.rayWorker.fail(id, 1);
    await bench.comes(id, 'ran again', runsAs(2));
    assert.notEqual(await nodeOf(bench, id), first);
  });
});

describe('nodes with repeated faults', () => {
  let bench: Bench;
  before(async () => {
    bench = await startBench({ cpus: 2, nodes: ['a', 'b'] });
    await bench.dispatcher({ cordon: { after: 1, forMs: 3_000 } });
  });
  after(() => bench.stop());

  test('a node is cordoned after faults of the cluster, with the reason, and released after a time', async (t) => {
    const id = await bench.submit({ hang: true }, { maxAttempts: 1 });
    t.after(() => bench.rayWorker.finish(id));
    await bench.comes(id, 'ran', runsAs(1));
    const node = (await nodeOf(bench, id))!;
    bench.rayWorker.fail(id, 1);
    const cordonOf = async () => (await bench.store.clusters.list(['fake']))[0]!.cordons?.[node];
    const cordon = await until(cordonOf, 'the node is cordoned');
    assert.equal(cordon.by, 'echelon');
    assert.match(cordon.reason!, /^1 fault within 0\.05 min, the last: /);
    await until(async () => (await cordonOf()) === undefined, 'the node is released');
  });
});
