import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Value } from 'typebox/value';
import {
  cutoffsOf,
  DEFAULT_RETENTION,
  eventLogDaysOf,
  policyOf,
  Retention,
} from '../../../src/schemas/retention.ts';

test('a project that says nothing has the defaults', () => {
  const { batchesDays, streamsDays, recordsDays } = DEFAULT_RETENTION;
  for (const nothing of [null, {}, undefined]) {
    assert.deepEqual(policyOf(nothing), { batches: batchesDays, streams: streamsDays, records: recordsDays });
  }
});

test('nothing outlives what it belongs to, and null is for ever', () => {
  const policy = (batchesDays: number | null, streamsDays: number | null, recordsDays: number | null) =>
    Object.values(policyOf({ batchesDays, streamsDays, recordsDays }));
  assert.deepEqual(policy(null, null, null), [null, null, null]);
  assert.deepEqual(policy(null, 5, null), [5, 5, null]);
  assert.deepEqual(policy(9, null, 4), [4, 4, 4]);
  assert.deepEqual(policy(1, 2, 3), [1, 2, 3]);
  assert.deepEqual(policy(0, null, null), [0, null, null]);
});

test('a day has 24 hours', () => {
  const policy = { batches: 1, streams: null, records: 0 };
  assert.deepEqual(cutoffsOf(policy, 100_000_000), {
    batches: 13_600_000,
    streams: null,
    records: 100_000_000,
  });
});

test('a policy names whole days and nothing else', () => {
  assert.ok(Value.Check(Retention, { batchesDays: null, recordsDays: 36_500 }));
  for (const bad of [{ batchesDays: -1 }, { streamsDays: 1.5 }, { recordsDays: '1' }, { batchDays: 1 }]) {
    assert.ok(!Value.Check(Retention, bad), JSON.stringify(bad));
  }
});

test('event logs stay on clusters for a week at least, and go with the record', () => {
  assert.equal(eventLogDaysOf(null), 7);
  assert.equal(eventLogDaysOf({ eventLogsDays: 30 }), 30);
  assert.equal(eventLogDaysOf({ eventLogsDays: null, recordsDays: null }), null);
  assert.equal(eventLogDaysOf({ eventLogsDays: null, recordsDays: 20 }), 20);
  assert.equal(eventLogDaysOf({ recordsDays: 1 }), 7);
  assert.ok(!Value.Check(Retention, { eventLogsDays: 6 }));
});
