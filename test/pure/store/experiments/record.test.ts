import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toAttempts } from '../../../../src/store/attempts/record.ts';
import { toBatch } from '../../../../src/store/batches/record.ts';
import { toExperiment, toVerification } from '../../../../src/store/experiments/record.ts';
import { toQueuedExperiment } from '../../../../src/store/queue/queued-experiment.ts';

test('there is no record without its id', () => {
  assert.equal(toExperiment({}, {}), undefined);
  assert.equal(toExperiment({ vBatches: '1' }, {}), undefined);
});

test('verification is complete exactly when the experiment is over and every batch has its report', () => {
  const status = (over: boolean, batches: number, verified: number) =>
    toVerification({
      ...(over ? { endedAt: '5' } : {}),
      ...(batches ? { vBatches: String(batches) } : {}),
      ...(verified ? { vVerified: String(verified) } : {}),
    }).status;
  assert.equal(status(true, 0, 0), 'complete');
  assert.equal(status(true, 2, 2), 'complete');
  assert.equal(status(true, 2, 1), 'pending');
  assert.equal(status(true, 1, 0), 'pending');
  assert.equal(status(false, 2, 2), 'pending');
  assert.equal(status(false, 0, 0), 'pending');
});

test('a succeeded experiment has no stage, a failed one says how far it had come', () => {
  const stage = (state: string) =>
    toExperiment({ id: 'exp-1', state, stage: 'saving', resolved: '{}' }, {})?.progress.stage;
  assert.deepEqual(['running', 'failed', 'cancelled', 'succeeded'].map(stage), [
    'saving',
    'saving',
    'saving',
    '',
  ]);
});

test('attempts come in order of their numbers, not of their names', () => {
  const fields: Record<string, string> = {};
  for (const n of [10, 2, 1]) Object.assign(fields, { [`${n}:claimedAt`]: String(n), [`${n}:cluster`]: 'c' });
  fields['2:last'] = String(2 ** 50);
  assert.deepEqual(
    toAttempts(fields).map(({ attempt, claimedAt, lastSequence }) => [attempt, claimedAt, lastSequence]),
    [
      [1, 1, 0],
      [2, 2, 2 ** 50],
      [10, 10, 0],
    ],
  );
});

test('absent fields read as what they stand for', () => {
  assert.deepEqual(toBatch({ experiment: 'e', field: '3:7' }, '1 2 d 3-4 3-5', null), {
    experiment: 'e',
    attempt: 3,
    batch: 7,
    step: 1,
    rows: 2,
    digest: 'd',
    firstEntry: '3-4',
    lastEntry: '3-5',
    gpuMs: 0,
    report: null,
  });
  const queued = toQueuedExperiment('e', { wanted: '', cpus: '0.1' });
  assert.deepEqual([queued.cluster, queued.cpus, queued.reason], [null, 0.1, null]);
});

test('a stored estimate has its place, or none', () => {
  const stored = (place: object | null) => JSON.stringify([10, 5, 20, place]);
  const place = { cluster: 'c', nodes: ['n'], endAt: null, isHead: true };
  const read = (waitEstimate: string) => toQueuedExperiment('e', { state: 'queued', waitEstimate });
  const estimate = { startAt: 10, earliest: 5, latest: 20 };
  const [one, other] = [read(stored(place)), read(stored(null))];
  assert.deepEqual([one.estimate, one.place], [estimate, place]);
  assert.deepEqual([other.estimate, other.place], [estimate, null]);
});
