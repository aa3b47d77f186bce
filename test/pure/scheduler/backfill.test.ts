import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Backfill, createBackfill } from '../../../src/scheduler/backfill.ts';
import { type FreeNode, fits, type Span, toRoundClusters } from '../../../src/scheduler/nodes.ts';
import type { QueuedExperiment } from '../../../src/store/queue/types.ts';
import { cluster, exactly, node, waits } from '../../support/queue.ts';

const held = (experiment: string, at: string, gpus: number, cpus = 1) => ({
  project: 'default',
  experiment,
  node: at,
  gpus,
  cpus,
});

/** Whether the experiment may start on that node. */
function allows(of: Backfill, item: QueuedExperiment, at: FreeNode, takes: Span | null): boolean {
  return of.admits(item, takes) && fits(item, of.roomOn(at, takes));
}

/** n: 8 GPUs, of which o holds 6 until 100. m: 8 GPUs, held by u; small: 2 GPUs. */
function guard(ends: [string, number][]) {
  const [one] = toRoundClusters({
    clusters: [cluster('a', [node('n', 8, 16), node('m', 8, 16), node('small', 2, 16)])],
    allocations: new Map([['a', [held('o', 'n', 6), held('u', 'm', 7)]]]),
    ends: new Map(ends.map(([experiment, at]) => [experiment, exactly(at)])),
  });
  const [n, m, small] = one!.nodes;
  return { n: n!, m: m!, small: small!, of: createBackfill(waits('head', 7), one!.nodes, 0) };
}

test("an experiment that ends before the head's start may start; a longer one may not", () => {
  const { n, of } = guard([['o', 100]]);
  assert.deepEqual([of.head?.node.id, of.head?.at.likely], ['n', 100]);
  assert.equal(allows(of, waits('x', 2), n, exactly(100)), true);
  assert.equal(allows(of, waits('x', 2), n, { early: 1, likely: 50, late: 101 }), false);
  assert.equal(allows(of, waits('x', 2), n, null), false);
});

test('experiments may start while the head still has room beside them', () => {
  const { n, of } = guard([['o', 100]]);
  assert.equal(allows(of, waits('x', 1), n, null), true);
  of.take([{ node: n, gpus: 1, cpus: 1 }], null);
  assert.equal(allows(of, waits('y', 1), n, null), false);
  assert.equal(allows(of, waits('y', 0, 14), n, null), true, 'CPUs that the head does not need');
});

test('nodes that the head cannot use or does not need are free for backfill', () => {
  const { m, small, of } = guard([
    ['o', 100],
    ['u', 200],
  ]);
  assert.equal(allows(of, waits('x', 2), small, null), true);
  assert.equal(allows(of, waits('x', 1), m, null), true);
});

/** a frees 4 GPUs around 8, b 6 of 8 around 20; the head needs 8. */
function two(late: number) {
  const [one] = toRoundClusters({
    clusters: [cluster('c', [node('b', 8, 16), node('a', 8, 16)])],
    allocations: new Map([['c', [held('o', 'a', 4), held('u', 'b', 6)]]]),
    ends: new Map([
      ['o', { early: 5, likely: 8, late }],
      ['u', { early: 12, likely: 20, late: 30 }],
    ]),
  });
  const [b, a] = one!.nodes;
  return { b: b!, a: a!, of: createBackfill(waits('head', 8), one!.nodes, 0) };
}

/* Fails where the bounds are not those of the latest end here and the earliest there. */
test('a node is free for backfill if another node certainly has room for the head earlier', () => {
  const sure = two(12);
  assert.equal(sure.of.head?.node, sure.a);
  assert.equal(allows(sure.of, waits('x', 2), sure.b, null), true);
  const unsure = two(13);
  assert.equal(allows(unsure.of, waits('x', 2), unsure.b, null), false);
  assert.equal(allows(unsure.of, waits('x', 2), unsure.a, null), false, 'the one that it waits for');
  // What starts there is over, or passed by: it takes nothing of what is left beside the head.
  sure.of.take([{ node: sure.b, gpus: 2, cpus: 1 }], null);
  assert.equal(allows(sure.of, waits('y', 2), sure.b, null), true);
});

/* Fails if the earliest ends are compared: the most likely start decides. */
test('the head is expected on the node that most likely has room first, in any order of the nodes', () => {
  const nodes = [node('soon', 8, 16), node('perhaps', 8, 16)];
  for (const order of [nodes, nodes.toReversed()]) {
    const [one] = toRoundClusters({
      clusters: [cluster('c', order)],
      allocations: new Map([['c', [held('o', 'soon', 8), held('u', 'perhaps', 8)]]]),
      ends: new Map([
        ['o', { early: 5, likely: 7, late: 9 }],
        ['u', { early: 1, likely: 8, late: 30 }],
      ]),
    });
    assert.equal(createBackfill(waits('head', 8), one!.nodes, 0).head?.node.id, 'soon');
  }
});

/* Fails where a likely end is compared in place of the latest, or with a likely start of the head. */
test('an experiment that may end too late does not start', () => {
  const { a, of } = two(12);
  assert.equal(allows(of, waits('x', 4), a, { early: 1, likely: 2, late: 5 }), true);
  assert.equal(allows(of, waits('x', 4), a, { early: 1, likely: 2, late: 5.1 }), false);
});

test('if no end is known, experiments may take only what the head does not need', () => {
  const { n, m, small, of } = guard([]);
  assert.equal(of.head, null);
  for (const at of [n, m]) {
    assert.equal(allows(of, waits('x', 1), at, exactly(1)), false);
    assert.equal(allows(of, waits('x', 0, 2), at, null), true);
  }
  assert.equal(allows(of, waits('x', 2), small, null), true);
});
