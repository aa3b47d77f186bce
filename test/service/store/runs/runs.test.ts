import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Ended, NumberedEvent } from '../../../../src/core/events.ts';
import { newExperimentId } from '../../../../src/core/ids.ts';
import type { OpenRunInput } from '../../../../src/store/runs/runs.ts';
import { coded, running, storeFor } from '../../../support/store.ts';

const { store } = await storeFor({ after });

function input(changes: Partial<OpenRunInput> = {}): OpenRunInput {
  return {
    id: newExperimentId(),
    project: 'default',
    name: 'mine',
    token: 'a token',
    silenceMs: 60_000,
    submitted: { name: 'mine' },
    resolved: { engine: 'external' },
    defaults: ['/engine'],
    ...changes,
  };
}

async function opened(changes: Partial<OpenRunInput> = {}) {
  const { id, token } = await store.runs.open(input(changes));
  return { experiment: id, attempt: 1, token };
}

const metrics = (sequence: number): NumberedEvent => ({
  sequence,
  at: 1,
  event: { type: 'metrics', step: sequence, values: { loss: 1 } },
});

const ENDED: Ended = {
  type: 'ended',
  cause: 'succeeded',
  exitCode: 0,
  signal: 0,
  message: '',
  lastLines: [],
};

test('an opened run is running, outside of the queue, and no dispatcher takes it over', async () => {
  const run = await opened();
  const record = await store.experiments.get(run.experiment);
  assert.equal(record?.state, 'running');
  assert.equal(record.attempt, 1);
  assert.equal(record.cluster, null);
  assert.ok(record.startedAt !== null);
  assert.deepEqual(await store.queue.ids(10, 0), []);
  assert.deepEqual(await store.attempts.leases(), { held: 0, expired: 0 });
  assert.deepEqual(await store.attempts.takeOver({ dispatcher: 'd', leaseMs: 1, limit: 10 }), []);
  const [event] = await store.events.read(run.experiment, undefined, 10);
  assert.deepEqual(event?.event, {
    type: 'state',
    from: null,
    to: 'running',
    attempt: 1,
    reason: 'opened by its client',
  });
});

test('a repeated opening returns the same run and token; another request with the key is refused', async () => {
  const idempotency = { name: 'key', digest: 'one' };
  const first = await store.runs.open(input({ idempotency }));
  const again = await store.runs.open(input({ idempotency, token: 'another token' }));
  assert.deepEqual(again, { id: first.id, token: 'a token', created: false });
  const other = store.runs.open(input({ idempotency: { name: 'key', digest: 'two' } }));
  await assert.rejects(other, coded('idempotency-conflict'));
});

test('only the token of an open run is heard', async () => {
  const run = await opened();
  await store.runs.hear(run, 60_000);
  await assert.rejects(store.runs.hear({ ...run, token: 'wrong' }, 60_000), coded('lease-lost'));
  await store.attempts.end(run, { to: 'succeeded', reason: 'done' });
  await assert.rejects(store.runs.hear(run, 60_000), coded('lease-lost'));
  const leased = await running(store);
  await assert.rejects(store.runs.hear(leased, 60_000), coded('lease-lost'));
});

test('a silent run is taken from its client with its recorded end; a heard one is not', async () => {
  const [silent, heard] = [await opened({ silenceMs: 0 }), await opened({ silenceMs: 0 })];
  await store.events.append(silent, [metrics(1), { sequence: 2, at: 1, event: ENDED }]);
  await store.runs.hear(heard, 60_000);
  const taken = await store.runs.takeSilent(10);
  assert.deepEqual(
    taken.map(({ lease, ended }) => [lease.experiment, ended]),
    [[silent.experiment, ENDED]],
  );
  await assert.rejects(store.events.append(silent, [metrics(3)]), coded('lease-lost'));
  assert.deepEqual(await store.runs.takeSilent(10), []);
  assert.equal(await store.attempts.end(taken[0]!.lease, { to: 'failed', reason: 'silent' }), 'failed');
});

test('a cancelled run is due at once, stays due when its client reports, and ends as cancelled', async () => {
  const run = await opened();
  assert.equal(await store.experiments.cancel(run.experiment, 'by request'), 'cancelling');
  await store.runs.hear(run, 60_000);
  const [taken] = await store.runs.takeSilent(10);
  assert.equal(taken?.lease.experiment, run.experiment);
  assert.equal(await store.attempts.end(taken.lease, { to: 'failed', reason: 'silent' }), 'cancelled');
});

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
