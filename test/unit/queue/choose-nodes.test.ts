import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bestNode, openClusters, releaseOf, take } from '../../../src/queue/choose-nodes.ts';
import { cluster, exactly, node, waits } from '../../support/line.ts';

const held = (experiment: string, gpus: number) => ({ experiment, node: 'n', gpus, cpus: 1 });

function open(ends: [string, number][], gpus: number[]) {
  const items = gpus.map((count, at) => held(`o${at}`, count));
  const [one] = openClusters({
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

test('takes only nodes that are allowed', () => {
  const [one] = openClusters({
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
  assert.equal(open([], [1]).held[0]?.project, 'default');
});
