import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  combinationsOf,
  compareCombination,
  seedAxes,
} from '../../../../../src/http/resources/sweeps/comparison.ts';
import type { Figures, SweepChild } from '../../../../../src/store/sweeps/types.ts';

const axes = [
  { pointer: '/estimator', values: [{ a: 1, b: 2 }, { b: 2, a: 1 }, { a: 2 }] },
  { pointer: '/training/seed', values: [1, 2] },
];
const child = (index: number, entry: number[]): SweepChild => ({
  index,
  entry,
  run: 0,
  experiment: `exp-${index}`,
  state: null,
  fingerprint: null,
  after: null,
  skipped: null,
  verification: null,
});
const figures = (changes: Partial<Figures>): Figures => ({
  state: 'succeeded',
  startedAt: 1000,
  endedAt: 3000,
  gpus: 2,
  cpus: 1,
  exact: 0,
  rounding: 0,
  wrong: 0,
  unverifiable: 0,
  metrics: {},
  ...changes,
});

test('seedAxes returns the axes whose last segment is `seed`', () => {
  assert.deepEqual(seedAxes(axes), ['/training/seed']);
  assert.deepEqual(seedAxes([{ pointer: '/seeds' }, { pointer: '/environment/seed' }]), [
    '/environment/seed',
  ]);
});

test('children with equal values are one combination, even if the keys have another order', () => {
  const children = [child(0, [0, 0]), child(1, [0, 1]), child(2, [1, 0]), child(3, [2, 1])];
  const groups = combinationsOf(axes, children, ['/training/seed']);
  assert.deepEqual(
    groups.map((group) => group.children.map(({ index }) => index)),
    [[0, 1, 2], [3]],
  );
  assert.deepEqual(groups[0]!.values, { '/estimator': { a: 1, b: 2 } });
  assert.equal(combinationsOf(axes, children, []).length, 3);
});

test('the metrics of a combination count only succeeded children, its rows and seconds count all', () => {
  const group = { values: {}, children: [0, 1, 2, 3].map((index) => child(index, [0, 0])) };
  const found = [
    figures({ metrics: { m: 0.2 }, exact: 5 }),
    figures({ metrics: { m: 0.6 }, rounding: 1 }),
    figures({ state: 'failed', metrics: { m: 100 }, wrong: 3 }),
    figures({ state: 'running', endedAt: null }),
  ];
  const row = compareCombination(group, [...found, undefined], { metrics: ['m', 'other'], now: 11_000 });
  assert.equal(row.metrics.m!.mean, 0.4);
  assert.ok(Math.abs(row.metrics.m!.std! - Math.sqrt(0.08)) < 1e-12);
  assert.deepEqual(row.metrics.other, { mean: null, std: null, n: 0, min: null, max: null, interval: null });
  assert.deepEqual(row.rows, { exact: 5, rounding: 1, wrong: 3, unverifiable: 0 });
  assert.deepEqual([row.children, row.succeeded, row.failed], [4, 2, 1]);
  assert.deepEqual([row.gpuSeconds, row.cpuSeconds], [32, 16]);
  assert.equal(row.reference, null);
});

test('the interval of a success rate lies within 0 and 1, and the interval of another metric has no such bounds', () => {
  const names = ['val/success_rate', 'val/pick_success_rate', 'success_rate', 'loss', 'success_rate/std'];
  const found = [0.7, 0.9].map((value) =>
    figures({ metrics: Object.fromEntries(names.map((name) => [name, value])) }),
  );
  const group = { values: {}, children: [child(0, [0, 0]), child(1, [0, 1])] };
  const { metrics } = compareCombination(group, found, { metrics: names, now: 0 });
  const within = names.filter((name) => metrics[name]!.interval!.high <= 1);
  assert.deepEqual(within, ['val/success_rate', 'val/pick_success_rate', 'success_rate']);
  assert.deepEqual(metrics.success_rate!.interval, { low: 0, high: 1 });
});
