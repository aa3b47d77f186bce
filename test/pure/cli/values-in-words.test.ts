import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sizeFrom, sizeInWords } from '../../../src/cli/size.ts';
import { coloredState, duration, startsIn, successRate } from '../../../src/cli/states.ts';
import type { State } from '../../../src/core/states.ts';

test('durations use the largest fitting unit', () => {
  assert.deepEqual([0, 45_000, 720_000, 12_240_000, 181_440_000, -5].map(duration), [
    '0 s',
    '45 s',
    '12 min',
    '3.4 h',
    '2.1 d',
    '0 s',
  ]);
  const [hour, day] = [3_600_000, 86_400_000];
  assert.deepEqual([2 * hour, 90 * day, 90 * day - 1].map(duration), ['2 h', '90 d', '90 d']);
});

test('success is that of rollouts, that on held-out games once it has succeeded', () => {
  const rate = (state: State, metrics: Record<string, number | string>) =>
    successRate({ state, progress: { stage: '', step: 0, steps: 0, metrics } });
  const both = { 'val/success_rate': 0.834, 'episode/success_rate': 0.5 };
  assert.equal(rate('running', both), '50 %');
  assert.equal(rate('succeeded', both), '83 %');
  assert.equal(rate('cancelled', both), '50 %');
  assert.equal(rate('running', { 'val/success_rate': 0.1 }), '10 %');
  assert.equal(rate('running', { 'episode/success_rate': 'NaN' }), '-');
  assert.equal(rate('queued', {}), '-');
});

test('a state is shown by its name', () => {
  assert.ok(coloredState('running').includes('running'));
  assert.equal(coloredState('queued'), 'queued');
});

test('an estimated start is shown with its bounds, an unknown one as ?', () => {
  const minute = 60_000;
  const estimate = { startAt: 12 * minute, earliest: 8 * minute, latest: 20 * minute };
  assert.equal(startsIn(estimate, 0), '12 min (8 min to 20 min)');
  assert.equal(startsIn(null, 0), '?');
});

test('a size is shown in powers of 1,000, and read in the same units', () => {
  assert.deepEqual([0, 999, 1000, 1_540_000_000].map(sizeInWords), ['0 B', '999 B', '1.0 kB', '1.5 GB']);
  assert.deepEqual(['0', '800MB', '1.5 GB', '7kB'].map(sizeFrom), [0, 800e6, 1.5e9, 7000]);
  for (const text of ['', 'much', '-1', '5 XB', '1e3', '5mb']) assert.throws(() => sizeFrom(text), /800MB/);
});
