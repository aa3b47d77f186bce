import assert from 'node:assert/strict';
import { test } from 'node:test';
import { projectFigures } from '../../../src/scheduler/project-figures.ts';
import { cluster, node } from '../../support/queue.ts';

test('the figures of a project are summed over all clusters', () => {
  const stored = { storeBytes: 1, storeLimitBytes: null };
  const held = { node: 'n', cpus: 8 };
  const figures = projectFigures({
    clusters: [cluster('a', [node('n', 8, 16)]), cluster('b', [node('n', 8, 16)])],
    projects: [
      { name: 'default', weight: 1, gpuQuota: null, ...stored },
      { name: 'q', weight: 3, gpuQuota: 4, ...stored },
    ],
    held: [
      { ...held, experiment: 'x', gpus: 2, project: 'q' },
      { ...held, experiment: 'y', gpus: 1, project: 'q' },
      { ...held, experiment: 'z', gpus: 12, project: 'default' },
    ],
    paused: new Map([['q', {}]]),
  });
  assert.deepEqual(figures, [
    { name: 'default', gpusHeld: 12, gpuQuota: null, weight: 1, share: 0.75, paused: false, ...stored },
    { name: 'q', gpusHeld: 3, gpuQuota: 4, weight: 3, share: 0.5, paused: true, ...stored },
  ]);
});
