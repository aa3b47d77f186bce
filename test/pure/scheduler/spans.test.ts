import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectedEnd, expectedLength, latest, plus } from '../../../src/scheduler/spans.ts';
import type { Pace } from '../../../src/store/queue/types.ts';

const PACE: Pace = {
  attempt: 1,
  startedAt: 0,
  steps: 10,
  step: { number: 6, at: 1_000 },
  perStep: { count: 4, meanMs: 100, deviationMs: 10 },
  kept: 0,
  sweep: null,
  timeoutMs: null,
  timeoutAt: null,
};

test('the remaining time covers the present step and the steps after it, within their variation', () => {
  const end = expectedEnd(PACE, 1_010);
  const spread = 2 * Math.sqrt(5 * 100 + (5 * 10) ** 2 / 4);
  assert.deepEqual(end, { early: 1_500 - spread, likely: 1_500, late: 1_500 + spread });
});

test('an overdue step ends now at the earliest', () => {
  assert.equal(expectedEnd(PACE, 5_000)?.likely, 5_400);
  assert.equal(expectedEnd(PACE, 5_000)?.early, 5_000);
  assert.equal(expectedEnd({ ...PACE, step: { number: 10, at: 1_000 } }, 5_000)?.likely, 5_000);
});

test('nothing is expected before two measured steps, unless the sweep has measurements', () => {
  const one = { ...PACE, perStep: { count: 1, meanMs: 100, deviationMs: 0 } };
  assert.equal(expectedEnd(one, 0), null);
  assert.equal(expectedLength(one), null);
  const swept = { ...one, startedAt: 50, sweep: { count: 3, meanMs: 1_000, deviationMs: 0 } };
  assert.deepEqual(expectedEnd(swept, 60), { early: 1_000, likely: 1_050, late: 1_100 });
  assert.deepEqual(expectedLength(swept), { early: 950, likely: 1_000, late: 1_050 });
});

test('the run time of the next attempt excludes the steps of the checkpoint', () => {
  assert.equal(expectedLength(PACE)?.likely, 1_000);
  assert.equal(expectedLength({ ...PACE, kept: 8 })?.likely, 200);
});

test('a timeout bounds the end and the run time, and is the expectation without measurements', () => {
  const timed = { ...PACE, timeoutMs: 400, timeoutAt: 1_200 };
  assert.deepEqual(expectedEnd(timed, 1_010), { early: 1_200, likely: 1_200, late: 1_200 });
  assert.deepEqual(expectedLength(timed), { early: 400, likely: 400, late: 400 });
  const unknown = { ...timed, perStep: null };
  assert.deepEqual(expectedEnd(unknown, 1_010), { early: 1_010, likely: 1_200, late: 1_200 });
  assert.deepEqual(expectedLength(unknown), { early: 0, likely: 400, late: 400 });
  assert.equal(expectedEnd({ ...unknown, timeoutAt: null }, 0), null);
});

test('the end of a span is its start plus its length, bound by bound', () => {
  const start = { early: 100, likely: 110, late: 150 };
  assert.deepEqual(plus(start, { early: 1, likely: 2, late: 4 }), { early: 101, likely: 112, late: 154 });
});

test('the later of two spans takes the later of each bound', () => {
  const one = { early: 1, likely: 5, late: 6 };
  const other = { early: 2, likely: 4, late: 9 };
  assert.deepEqual(latest(one, other), { early: 2, likely: 5, late: 9 });
});
