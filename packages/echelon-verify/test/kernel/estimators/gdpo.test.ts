import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GDPO } from '../../../src/kernel/estimators/gdpo.ts';
import { near, run } from '../../support/run-estimator.ts';

test('gdpo normalises each reward in its group, adds, and whitens over the batch', () => {
  const none = { epsilon: 0, batchEpsilon: 0 };
  const rewards = [
    [1, 0, 1, 0],
    [0, 100, 0, 100],
  ];
  assert.deepEqual(run(GDPO, { rewards, group: [0, 0, 1, 1] }, none), [0, 0, 0, 0]);
  const one = run(GDPO, { rewards: [rewards[0]!], group: [0, 0, 1, 1] }, none);
  const size = Math.sqrt(0.75);
  near(one, [size, -size, size, -size]);
});

test('gdpo counts a reward that was not given as 0, and excludes a row without any', () => {
  const rewards = [
    [1, 0, Number.NaN],
    [Number.NaN, Number.NaN, Number.NaN],
  ];
  const excluded = run(GDPO, { rewards }, { missing: 'exclude', batchEpsilon: 0 });
  near(excluded, [Math.SQRT1_2, -Math.SQRT1_2, 0]);
  near(run(GDPO, { rewards }, { missing: 'zero', batchEpsilon: 0 }), [1, -1, 0]);
});
