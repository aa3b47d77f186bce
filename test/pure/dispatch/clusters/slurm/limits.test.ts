import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toPartitionNodes, whyNever } from '../../../../../src/dispatch/clusters/slurm/limits.ts';

const LINES = ['96|512000|gpu:h100:8(S:0-1)|1-00:00:00', '16|64000|(null)|infinite', 'a banner'];
const NODES = LINES.flatMap(toPartitionNodes);
const place = (node: { gpus?: number; cpus?: number; memoryMb?: number }, minutes = 60) => ({
  ...{ partition: 'gpu', minutes },
  node: { gpus: 0, cpus: 1, memoryMb: null, ...node },
});

test('the nodes of a partition are read with their GPUs and its time limit', () => {
  assert.deepEqual(NODES, [
    { cpus: 96, gpus: 8, memoryMb: 512_000, maxMinutes: 1_440 },
    { cpus: 16, gpus: 0, memoryMb: 64_000, maxMinutes: null },
  ]);
  assert.equal(toPartitionNodes('8|1|gpu:a30:2,gpu:2,mps:100|10')[0]?.gpus, 4);
});

test('a node type that the partition has is asked for', () => {
  assert.equal(whyNever(place({ gpus: 8, cpus: 96, memoryMb: 512_000 }, 1_440), NODES), null);
  assert.equal(whyNever(place({ cpus: 16 }, 99_999), NODES), null);
  assert.equal(whyNever(place({ gpus: 64 }), []), null);
});

test('a node type that no node of the partition has is named, with the most that there is', () => {
  const most = 'has them: at most 8 GPUs and 96 CPUs';
  const words = `the node type asks for 16 GPUs and 1 CPU, but no node of the partition gpu ${most}`;
  assert.equal(whyNever(place({ gpus: 16 }), NODES), words);
  assert.match(whyNever(place({ gpus: 8, memoryMb: 999_999 }), NODES)!, /with 999999 MB, but no node/);
});

test('a time limit above that of the partition is named', () => {
  assert.equal(
    whyNever(place({ gpus: 1 }, 1_441), NODES),
    '--time asks for 1441 minutes, but the partition gpu gives at most 1440',
  );
});
