import assert from 'node:assert/strict';
import { test } from 'node:test';
import { busyCards, gpusOf } from '../../../../../src/cli/local/box/gpus.ts';

const CARDS = `0, GPU-a, NVIDIA H100 80GB HBM3, 3, 81559
1, GPU-b, NVIDIA H100 80GB HBM3, 61440, 81559
2, GPU-c, NVIDIA H100 80GB HBM3, 36864, 81559
3, GPU-d, NVIDIA H100 80GB HBM3, 512, 81559
`;
const APPS = 'GPU-b, 4711, 61000\nGPU-b, 4712, [N/A]\nGPU-d, 99, 300\n';

test('a card that another program uses is named with its processes and their users', () => {
  const gpus = gpusOf(CARDS, APPS);
  assert.deepEqual(
    gpus.map(({ index, processes }) => [index, processes.length]),
    [
      [0, 0],
      [1, 2],
      [2, 0],
      [3, 1],
    ],
  );
  const owner = (pid: number) => (pid === 4711 ? 'ada' : undefined);
  assert.deepEqual(busyCards(gpus, owner), [
    'GPU 1: 60.0 GiB by process 4711 of ada, process 4712 of another user',
    'GPU 2: 36.0 GiB by a program that is not visible from here',
  ]);
});

test('a machine without cards has none', () => {
  assert.deepEqual(gpusOf('No devices were found\n', ''), []);
});
