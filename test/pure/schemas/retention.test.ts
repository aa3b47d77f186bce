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

test('a project without a retention policy has the defaults', () => {
  const { batchesDays, streamsDays, recordsDays } = DEFAULT_RETENTION;
  for (const nothing of [null, {}, undefined]) {
    assert.deepEqual(policyOf(nothing), { batches: batchesDays, streams: streamsDays, records: recordsDays });
  }
});

test('data never outlives the record it belongs to, and null means no limit', () => {
  const policy = (batchesDays: number | null, streamsDays: number | null, recordsDays: number | null) =>
    Object.values(policyOf({ batchesDays, streamsDays, recordsDays }));
  assert.deepEqual(policy(null, null, null), [null, null, null]);
  assert.deepEqual(policy(null, 5, null), [5, 5, null]);
  assert.deepEqual(policy(9, null, 4), [4, 4, 4]);
  assert.deepEqual(policy(1, 2, 3), [1, 2, 3]);
  assert.deepEqual(policy(0, null, null), [0, null, null]);
});

test('cutoffsOf converts days to milliseconds', () => {
  const policy = { batches: 1, streams: null, records: 0 };
  assert.deepEqual(cutoffsOf(policy, 100_000_000), {
    batches: 13_600_000,
    streams: null,
    records: 100_000_000,
  });
});

test('a retention policy accepts only whole days', () => {
  assert.ok(Value.Check(Retention, { batchesDays: null, recordsDays: 36_500 }));
  for (const bad of [{ batchesDays: -1 }, { streamsDays: 1.5 }, { recordsDays: '1' }, { batchDays: 1 }]) {
    assert.ok(!Value.Check(Retention, bad), JSON.stringify(bad));
  }
});

test('event logs are retained for at least 7 days and at most as long as the record', () => {
  assert.equal(eventLogDaysOf(null), 7);
  assert.equal(eventLogDaysOf({ eventLogsDays: 30 }), 30);
  assert.equal(eventLogDaysOf({ eventLogsDays: null, recordsDays: null }), null);
  assert.equal(eventLogDaysOf({ eventLogsDays: null, recordsDays: 20 }), 20);
  assert.equal(eventLogDaysOf({ recordsDays: 1 }), 7);
  assert.ok(!Value.Check(Retention, { eventLogsDays: 6 }));
});
