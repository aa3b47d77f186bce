import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openClusters } from '../../../src/queue/choose-nodes.ts';
import { closed, frees, inAbout, needInWords, nowhere } from '../../../src/queue/choose-words.ts';
import { cluster, exactly, node, waits } from '../../support/line.ts';

const open = (...clusters: ReturnType<typeof cluster>[]) =>
  openClusters({ clusters, reservations: new Map(), ends: new Map() });

test('times from now are coarse, so that words change seldom', () => {
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

test('says what is needed, and where it will be free', () => {
  const [one] = open(cluster('a', [node('gpu-02', 8, 64)]));
  assert.equal(needInWords({ gpus: 0, cpus: 2.5 }), '2.5 CPUs');
  assert.equal(
    frees({ gpus: 4, cpus: 8 }, { node: one!.nodes[0]!, at: exactly(41 * 60_000) }, 0),
    'node gpu-02 has 4 GPUs free in about 40 min',
  );
});

test('says which clusters take nothing, and which there are not', () => {
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
