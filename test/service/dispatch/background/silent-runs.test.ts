import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newExperimentId } from '../../../../src/core/ids.ts';
import { createSilentRuns } from '../../../../src/dispatch/background/silent-runs.ts';
import { QUIET } from '../../../support/dispatch.ts';
import { storeFor } from '../../../support/store.ts';

const INPUT = {
  project: 'default',
  name: 'r',
  token: 't',
  silenceMs: 0,
  submitted: {},
  resolved: {},
  defaults: [],
};

test('a run that was cancelled says so', async (t) => {
  const { store } = await storeFor(t);
  const { id } = await store.runs.open({ ...INPUT, id: newExperimentId() });
  await store.experiments.cancel(id, 'cancelled by ann');
  await createSilentRuns({ store, log: QUIET, returnMs: 0 })();
  const record = await store.experiments.get(id);
  assert.deepEqual([record?.state, record?.reason], ['cancelled', 'cancelled by ann']);
});

test('a silent run fails, but not soon after the start of the dispatcher', async (t) => {
  const { store } = await storeFor(t);
  const { id } = await store.runs.open({ ...INPUT, id: newExperimentId() });
  await createSilentRuns({ store, log: QUIET })();
  assert.equal((await store.experiments.get(id))?.state, 'running');
  await createSilentRuns({ store, log: QUIET, returnMs: 0 })();
  const record = await store.experiments.get(id);
  assert.deepEqual(
    [record?.state, record?.reason],
    ['failed', 'its client sent nothing for longer than silenceSeconds'],
  );
});
