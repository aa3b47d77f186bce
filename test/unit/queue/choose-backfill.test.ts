import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBackfill } from '../../../src/queue/choose-backfill.ts';
import { openClusters } from '../../../src/queue/choose-nodes.ts';
import { cluster, exactly, node, waits } from '../../support/line.ts';

const held = (experiment: string, at: string, gpus: number, cpus = 1) => ({
  experiment,
  node: at,
  gpus,
  cpus,
});

/** n: 8 GPUs, of which o holds 6 until 100. m: 8 GPUs, held by u; small: 2 GPUs. */
function guard(ends: [string, number][]) {
  const [one] = openClusters({
    clusters: [cluster('a', [node('n', 8, 16), node('m', 8, 16), node('small', 2, 16)])],
    reservations: new Map([['a', [held('o', 'n', 6), held('u', 'm', 7)]]]),
    ends: new Map(ends.map(([experiment, at]) => [experiment, exactly(at)])),
  });
  const [n, m, small] = one!.nodes;
  return { n: n!, m: m!, small: small!, of: createBackfill(waits('head', 7), one!.nodes, 0) };
}

test('one that is over in time may start, another may not', () => {
  const { n, of } = guard([['o', 100]]);
  assert.deepEqual([of.head?.node.id, of.head?.at.likely], ['n', 100]);
  assert.equal(of.allows(waits('x', 2), n, exactly(100)), true);
  assert.equal(of.allows(waits('x', 2), n, { early: 1, likely: 50, late: 101 }), false);
  assert.equal(of.allows(waits('x', 2), n, null), false);
});

test('one beside which the head still has room may stay, as far as that goes', () => {
  const { n, of } = guard([['o', 100]]);
  assert.equal(of.allows(waits('x', 1), n, null), true);
  of.take(waits('x', 1), n, null);
  assert.equal(of.allows(waits('y', 1), n, null), false);
  assert.equal(of.allows(waits('y', 0, 14), n, null), true, 'CPUs that the head does not need');
});

test('nodes that the head cannot use, or will not wait for, are free', () => {
  const { m, small, of } = guard([
    ['o', 100],
    ['u', 200],
  ]);
  assert.equal(of.allows(waits('x', 2), small, null), true);
  assert.equal(of.allows(waits('x', 1), m, null), true);
});

test('where no end is known, only what the head does not need may be taken', () => {
  const { n, m, small, of } = guard([]);
  assert.equal(of.head, null);
  for (const at of [n, m]) {
    assert.equal(of.allows(waits('x', 1), at, exactly(1)), false);
    assert.equal(of.allows(waits('x', 0, 2), at, null), true);
  }
  assert.equal(of.allows(waits('x', 2), small, null), true);
});
