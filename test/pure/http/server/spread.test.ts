import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RATE, spreadOf, studentQuantile } from '../../../../src/http/server/spread.ts';

test('spreadOf returns null for a figure that too few values do not determine', () => {
  assert.deepEqual(spreadOf([]), { mean: null, std: null, n: 0, min: null, max: null, interval: null });
  assert.deepEqual(spreadOf([3]), { mean: 3, std: null, n: 1, min: 3, max: 3, interval: null });
  assert.deepEqual(spreadOf([3, 3, 3]), {
    mean: 3,
    std: 0,
    n: 3,
    min: 3,
    max: 3,
    interval: { low: 3, high: 3 },
  });
});

test('the interval of three seeds uses the t distribution, not the normal distribution', () => {
  const { mean, std, interval } = spreadOf([0.7, 0.8, 0.9]);
  assert.ok(Math.abs(mean! - 0.8) < 1e-12 && Math.abs(std! - 0.1) < 1e-12);
  // t(2) = 4.302653; 0.1 / sqrt(3) times that.
  assert.ok(Math.abs(interval!.low - 0.5515862) < 1e-6);
  assert.ok(Math.abs(interval!.high - 1.0484138) < 1e-6);
});

test('the interval of a rate ends at 0 and 1', () => {
  const wide = spreadOf([0.7, 0.9]);
  assert.ok(wide.interval!.low < 0 && wide.interval!.high > 1);
  assert.deepEqual(spreadOf([0.7, 0.9], RATE), { ...wide, interval: { low: 0, high: 1 } });
  assert.deepEqual(spreadOf([70, 90], RATE), spreadOf([70, 90]));
  const high = spreadOf([0.7, 0.8, 0.9], RATE).interval!;
  assert.ok(Math.abs(high.low - 0.5515862) < 1e-6 && high.high === 1);
});

test('studentQuantile returns the known quantiles of the t distribution', () => {
  const known: [number, number][] = [
    [1, 12.7062],
    [5, 2.57058],
    [11, 2.20099],
    [12, 2.17881],
    [30, 2.04227],
    [100, 1.98397],
    [1_000_000, 1.95997],
  ];
  for (const [freedom, value] of known) {
    assert.ok(Math.abs(studentQuantile(freedom) - value) < 1e-5, `${freedom}: ${studentQuantile(freedom)}`);
  }
});
