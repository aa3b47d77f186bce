import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noGpu } from '../../../src/engines/no-gpu.ts';

test('noGpu reports a problem only if the spec requests GPUs or several nodes', () => {
  const spec = { engine: 'x', name: 'x' };
  assert.deepEqual(noGpu(spec, 'must be 0'), []);
  assert.deepEqual(noGpu({ ...spec, resources: { gpus: 0 } }, 'must be 0'), []);
  const found = noGpu({ ...spec, resources: { gpus: 1 } }, 'must be 0');
  assert.deepEqual(found, [{ field: '/resources/gpus', message: 'must be 0' }]);
  const [nodes] = noGpu({ ...spec, resources: { nodes: 2 } }, 'must be 0');
  assert.equal(nodes?.field, '/resources/nodes');
});
