import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fits, releaseOf, take, toRoundClusters } from '../../../src/scheduler/nodes.ts';
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
    allocations: new Map([['a', items]]),
    ends: new Map(ends.map(([experiment, at]) => [experiment, exactly(at)])),
  });
  return one!.nodes[0]!;
}

test('a release has the time of room and the remaining free amount', () => {
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

test('no release is expected if it needs an end that is not known', () => {
  const full = open([['o0', 300]], [4, 4]);
  assert.deepEqual(releaseOf({ gpus: 4, cpus: 1 }, full, 0)?.at, exactly(300));
  assert.equal(releaseOf({ gpus: 5, cpus: 1 }, full, 0), null);
});

test('the bounds of a release follow from all ends that it needs, and from now', () => {
  const spans = new Map([
    ['o0', { early: 10, likely: 20, late: 90 }],
    ['o1', { early: 15, likely: 30, late: 40 }],
  ]);
  const [one] = toRoundClusters({
    clusters: [cluster('a', [node('n', 8, 16)])],
    allocations: new Map([['a', [held('o0', 4), held('o1', 4)]]]),
    ends: spans,
  });
  const at = (gpus: number, now: number) => releaseOf({ gpus, cpus: 1 }, one!.nodes[0]!, now)?.at;
  assert.deepEqual(at(4, 0), { early: 10, likely: 20, late: 90 });
  assert.deepEqual(at(8, 0), { early: 15, likely: 30, late: 90 });
  assert.deepEqual(at(8, 35), { early: 35, likely: 35, late: 90 });
});

test('an allocation is released at its end', () => {
  const empty = open([], []);
  take({ node: empty, gpus: 6, cpus: 3 }, waits('x', 6, 3), exactly(50));
  assert.deepEqual([empty.gpus, empty.cpus], [2, 13]);
  assert.deepEqual(releaseOf({ gpus: 8, cpus: 16 }, empty, 0), {
    at: exactly(50),
    left: { gpus: 0, cpus: 0 },
  });
});

test('rounding errors of decimal fractions do not change whether an amount fits', () => {
  assert.equal(fits({ gpus: 0.3, cpus: 0.3 }, { gpus: 0.1 + 0.2 - 1e-9, cpus: 0.3 - 1e-9 }), true);
  assert.equal(fits({ gpus: 0.3, cpus: 0 }, { gpus: 0.299, cpus: 1 }), false);
  assert.equal(fits({ gpus: 0, cpus: 0.3 }, { gpus: 1, cpus: 0.299 }), false);
});
