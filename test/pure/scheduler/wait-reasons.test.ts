import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toRoundClusters } from '../../../src/scheduler/nodes.ts';
import {
  closed,
  frees,
  freest,
  inAbout,
  needInWords,
  nowhere,
  tooLarge,
} from '../../../src/scheduler/wait-reasons.ts';
import { cluster, exactly, node, waits } from '../../support/queue.ts';

const open = (...clusters: ReturnType<typeof cluster>[]) =>
  toRoundClusters({ clusters, allocations: new Map(), ends: new Map() });

test('times from now are coarse', () => {
  const minute = 60_000;
  assert.deepEqual(
    [0, 3 * minute, 42 * minute, 100 * minute, 30 * 60 * minute, 50 * 60 * minute].map(inAbout),
    [
      'in less than a minute',
      'in about 3 min',
      'in about 40 min',
      'in about 2 h',
      'in about 30 h',
      'in about 2 days',
    ],
  );
});

test('the amount and the node that will have room are worded', () => {
  const [one] = open(cluster('a', [node('gpu-02', 8, 64)]));
  assert.equal(needInWords({ gpus: 0, cpus: 2.5 }), '2.5 CPUs on one node');
  assert.equal(needInWords({ gpus: 8, cpus: 20, nodes: 2 }), '4 GPUs on each of 2 nodes and 20 CPUs');
  assert.equal(
    frees({ gpus: 4, cpus: 8 }, { node: one!.nodes[0]!, at: exactly(41 * 60_000) }, 0),
    'node gpu-02 has 4 GPUs free in about 40 min',
  );
  const at = { early: 60_000, likely: 43 * 60_000, late: 90 * 60_000 };
  assert.equal(
    frees({ gpus: 0, cpus: 8 }, { node: one!.nodes[0]!, at }, 40 * 60_000),
    'node gpu-02 has 8 CPUs free in about 3 min',
  );
});

test('the freest node is the one with most of the resource that is lacking', () => {
  const used = (gpusUsed: number, cpusUsed: number) => ({ gpusUsed, cpusUsed });
  const nodes = [node('n', 8, 64, used(6, 60)), node('m', 8, 64, used(6, 50)), node('l', 8, 64, used(7, 0))];
  for (const order of [nodes, nodes.toReversed()]) {
    const clusters = open(cluster('a', order));
    assert.equal(freest(clusters, { gpus: 4, cpus: 1 }), 'the freest node has 2 GPUs and 14 CPUs free');
    assert.equal(freest(clusters, { gpus: 0, cpus: 99 }), 'the freest node has 64 CPUs free');
  }
  assert.equal(freest(open(cluster('a', [])), { gpus: 1, cpus: 1 }), 'no node is known');
});

test('a too large experiment is compared with the nodes of the clusters that it asks for', () => {
  const [a, b] = open(cluster('a', [node('n', 0, 8), node('m', 0, 4)]), cluster('b', [node('n', 0, 16)]));
  const most = (cpus: number) => `have at most 0 GPUs and ${cpus} CPUs`;
  const of = (more: object, ...clusters: NonNullable<typeof a>[]) =>
    tooLarge(waits('x', 1, 1, more), clusters).replace(/^.*; the nodes of /, '');
  assert.equal(of({}, a!, b!), `any cluster ${most(16)}`);
  assert.equal(of({ cluster: 'a' }, a!), `cluster a ${most(8)}`);
  assert.equal(of({ labels: { zone: 'x' } }, a!, b!), `the clusters a, b ${most(16)}`);
});

test('closed clusters and unknown clusters are named', () => {
  const clusters = open(cluster('a', [], { draining: true }), cluster('b', [], { paused: ' by ann' }));
  assert.equal(
    closed(clusters),
    'cluster a is draining: nothing new starts there; cluster b is paused by ann',
  );
  assert.equal(nowhere(waits('x', 1, 1, { cluster: 'z' }), clusters), 'there is no cluster z');
  assert.equal(nowhere(waits('x', 1), []), 'no cluster is known yet');
  assert.equal(
    nowhere(waits('x', 1, 1, { cluster: 'a', labels: { gpu: 'h100' } }), clusters),
    'cluster a does not have the labels gpu=h100',
  );
});
