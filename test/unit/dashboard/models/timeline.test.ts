import assert from 'node:assert/strict';
import { test } from 'node:test';
import { axisEnd, spanOf } from '../../../../src/dashboard/models/timeline.ts';

const estimate = { earliest: 1_000_000, startAt: 1_500_000, latest: 2_000_000 };

test('the axis ends with the latest start, and is never empty', () => {
  assert.equal(axisEnd([estimate, null], 0), 2_000_000);
  assert.equal(axisEnd([null], 5), 60_005);
});

test('an estimate lies on the axis in its order, and a past one at its start', () => {
  assert.deepEqual(spanOf(estimate, 0, 2_000_000), { from: 0.5, at: 0.75, to: 1 });
  assert.equal(spanOf(estimate, 1_200_000, 2_000_000).from, 0);
});
