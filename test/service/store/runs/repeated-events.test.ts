import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { NumberedEvent } from '../../../../src/core/events.ts';
import { coded, running, storeFor } from '../../../support/store.ts';

const { store } = await storeFor({ after });

test('repeated events are compared with the recorded ones by content, whatever their time', async () => {
  const lease = await running(store);
  const event = (sequence: number, loss: number | 'NaN', at = 1): NumberedEvent => ({
    sequence,
    at,
    event: { type: 'metrics', step: 1, values: { loss, '\u00e4': -0 } },
  });
  await store.events.append(lease, [event(1, 0.1), event(2, 'NaN')]);
  assert.equal(await store.runs.repeated(lease, [event(1, 0.1, 99), event(2, 'NaN')]), 2);
  assert.equal(await store.runs.repeated(lease, [event(1, 0.1), event(2, 'NaN'), event(3, 1)]), null);
  assert.equal(await store.runs.repeated(lease, []), null);
  await assert.rejects(store.runs.repeated(lease, [event(2, 0.1)]), coded('event-conflict'));
});
