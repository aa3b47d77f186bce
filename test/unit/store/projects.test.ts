import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { newExperimentId } from '../../../src/core/ids.ts';
import { newSweepId } from '../../../src/core/sweep-ids.ts';
import { storeFor, submitInput } from '../../support/store.ts';

const { store } = await storeFor({ after });

test('the default project is always there', async () => {
  assert.deepEqual(
    (await store.projects()).map(({ name, weight, gpuQuota }) => ({ name, weight, gpuQuota })),
    [{ name: 'default', weight: 1, gpuQuota: null }],
  );
  assert.equal((await store.project('default'))?.name, 'default');
  assert.equal(await store.project('other'), undefined);
});

test('projectOf tells the project of an experiment', async () => {
  const { id } = await store.submit(submitInput({ project: 'a-team' }));
  assert.equal(await store.projectOf(id), 'a-team');
  assert.equal(await store.projectOf(newExperimentId()), undefined);
  assert.equal(await store.projectOf(newSweepId()), undefined);
});
