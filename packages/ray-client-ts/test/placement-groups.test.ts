import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '../src/connect.ts';
import { RayTimeoutError } from '../src/errors.ts';
import { writePickle } from '../src/pickle/writer.ts';
import { startFakeRay } from './support/fake-ray.ts';

test('a group has the id and the bundles that the cluster states, found as made', async () => {
  await using fake = await startFakeRay({ run: () => writePickle(['0a0b', [{ CPU: 1 }, { GPU: 2 }]]) });
  await using ray = await connect(fake.address, { selfTest: false });
  const made = await ray.createPlacementGroup([{ CPU: 1 }, { GPU: 2 }], { strategy: 'SPREAD', name: 'g' });
  const found = await ray.getPlacementGroup('g');
  for (const { id, bundles } of [made, found]) {
    assert.deepEqual([id, bundles], ['0a0b', [{ CPU: 1 }, { GPU: 2 }]]);
  }
});

test('a group that is not ready in time is a timeout', async () => {
  const run = (task: { name?: string | null }) =>
    task.name === 'create' ? writePickle(['0a0b', [{ CPU: 1 }]]) : undefined;
  await using fake = await startFakeRay({ run });
  await using ray = await connect(fake.address, { selfTest: false });
  const group = await ray.createPlacementGroup([{ CPU: 1 }]);
  await assert.rejects(group.ready({ timeoutMs: 20 }), RayTimeoutError);
});
