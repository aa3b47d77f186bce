import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bestNode, fits, releaseOf, take, toRoundClusters } from '../../../src/scheduler/nodes.ts';
import { cluster, exactly, node, waits } from '../../support/queue.ts';

const held = (experiment: string, gpus: number) => ({
  experiment,
  project: 'default',
  node: 'n',
  gpus,
  cpus: 1,
});

function open(ends: [string, number][], gpus: number[]) {
  const items = gpus.map((count, at) => held(`o${at}`, count));
  const [one] = toRoundClusters({
    clusters: [cluster('a', [node('n', 8, 16)])],
    reservations: new Map([['a', items]]),
    ends: new Map(ends.map(([experiment, at]) => [experiment, exactly(at)])),
  });
  return one!.nodes[0]!;
}

test('says when a node will have room, and what is free beside it then', () => {
  const full = open(
    [
      ['o0', 300],
      ['o1', 100],
      ['o2', 200],
    ],
    [4, 1, 3],
  );
  assert.deepEqual(releaseOf({ gpus: 4, cpus: 1 }, full, 0), {
    at: exactly(200),
    left: { gpus: 0, cpus: 14 },
  });
  assert.deepEqual(releaseOf({ gpus: 2, cpus: 1 }, full, 0)?.left, { gpus: 2, cpus: 14 });
  assert.equal(releaseOf({ gpus: 9, cpus: 1 }, full, 0), null);
});

test('says nothing where it takes the end of one of which nobody knows when it ends', () => {
  const full = open([['o0', 300]], [4, 4]);
  assert.deepEqual(releaseOf({ gpus: 4, cpus: 1 }, full, 0)?.at, exactly(300));
  assert.equal(releaseOf({ gpus: 5, cpus: 1 }, full, 0), null);
});

test('bounds the time of room by all that have to end, and by now', () => {
  const spans = new Map([
    ['o0', { early: 10, likely: 20, late: 90 }],
    ['o1', { early: 15, likely: 30, late: 40 }],
  ]);
  const [one] = toRoundClusters({
    clusters: [cluster('a', [node('n', 8, 16)])],
    reservations: new Map([['a', [held('o0', 4), held('o1', 4)]]]),
    ends: spans,
  });
  const at = (gpus: number, now: number) => releaseOf({ gpus, cpus: 1 }, one!.nodes[0]!, now)?.at;
  assert.deepEqual(at(4, 0), { early: 10, likely: 20, late: 90 });
  assert.deepEqual(at(8, 0), { early: 15, likely: 30, late: 90 });
  assert.deepEqual(at(8, 35), { early: 35, likely: 35, late: 90 });
});

test('gives back what it took, when that ends', () => {
  const empty = open([], []);
  take(empty, waits('x', 6, 3), exactly(50));
  assert.deepEqual([empty.gpus, empty.cpus], [2, 13]);
  assert.deepEqual(releaseOf({ gpus: 8, cpus: 16 }, empty, 0), {
    at: exactly(50),
    left: { gpus: 0, cpus: 0 },
  });
});

test('takes only nodes that are allowed', () => {
  const [one] = toRoundClusters({
    clusters: [cluster('a', [node('n', 4, 16), node('m', 8, 16)])],
    reservations: new Map(),
    ends: new Map(),
  });
  assert.equal(bestNode({ gpus: 1, cpus: 1 }, one!.nodes)?.id, 'n');
  assert.equal(bestNode({ gpus: 1, cpus: 1 }, one!.nodes, ({ id }) => id !== 'n')?.id, 'm');
  take(one!.nodes[0]!, waits('x', 4), null);
  assert.equal(bestNode({ gpus: 1, cpus: 1 }, one!.nodes)?.id, 'm');
});

test('counts a reservation that names no project for the default one', () => {
  assert.equal(open([], [1]).allocations[0]?.project, 'default');
});

// Two dispatchers that see the nodes in another order choose the same one.
test('the node is the fullest by GPUs, then by CPUs, then the first by its id, in whatever order they come', () => {
  const small = fc.integer({ min: 0, max: 3 });
  const free = fc.uniqueArray(fc.record({ id: fc.constantFrom(...'abcdef'), gpus: small, cpus: small }), {
    selector: ({ id }) => id,
  });
  fc.assert(
    fc.property(free, fc.record({ gpus: small, cpus: small }), (nodes, need) => {
      const open = nodes.map((one) => ({ ...one, gpusTotal: 3, cpusTotal: 3, allocations: [] }));
      const [fullest] = open
        .filter((one) => one.gpus >= need.gpus && one.cpus >= need.cpus)
        .toSorted((a, b) => a.gpus - b.gpus || a.cpus - b.cpus || (a.id < b.id ? -1 : 1));
      assert.equal(bestNode(need, open), fullest);
    }),
    { numRuns: 500 },
  );
});

test('rounding of decimal fractions neither makes room nor takes it', () => {
  assert.equal(fits({ gpus: 0.3, cpus: 0.3 }, { gpus: 0.1 + 0.2 - 1e-9, cpus: 0.3 - 1e-9 }), true);
  assert.equal(fits({ gpus: 0.3, cpus: 0 }, { gpus: 0.299, cpus: 1 }), false);
  assert.equal(fits({ gpus: 0, cpus: 0.3 }, { gpus: 1, cpus: 0.299 }), false);
});
