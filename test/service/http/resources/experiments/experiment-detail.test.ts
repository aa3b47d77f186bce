import assert from 'node:assert/strict';
import { test } from 'node:test';
import { experimentDetail } from '../../../../../src/http/resources/experiments/experiment-detail.ts';
import { storeFor, submitInput } from '../../../../support/store.ts';

test('a queued experiment shows its queue position, its wait reason and its estimated start', async (t) => {
  const { store } = await storeFor(t);
  const { id } = await store.experiments.submit(submitInput());
  const shown = async () => {
    const { position, waitReason, estimate, noEstimate } = await experimentDetail(
      { store },
      (await store.experiments.get(id))!,
      { project: null },
    );
    return { position, waitReason, estimate, noEstimate };
  };
  const position = { rank: 1, length: 1 };
  assert.deepEqual(await shown(), {
    position,
    waitReason: null,
    estimate: null,
    noEstimate: 'no scheduling round has read it yet',
  });
  const estimate = { startAt: 30, earliest: 20, latest: 40 };
  await store.queue.note(new Map([[id, { reason: 'needs 4 GPUs', rank: 1, estimate }]]));
  assert.deepEqual(await shown(), { position, waitReason: 'needs 4 GPUs', estimate, noEstimate: null });
  await store.experiments.cancel(id, '');
  assert.deepEqual(await shown(), { position: null, waitReason: null, estimate: null, noEstimate: null });
});
