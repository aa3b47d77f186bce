import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyEarlyMemory, judgeLook, medianOf, takeValues } from '../../../src/plan/early-stopping.ts';
import type { EarlyStopping } from '../../../src/schemas/sweep.ts';

const settings: EarlyStopping = { metric: 'm', goal: 'max', afterSteps: 3, everySteps: 2, minChildren: 2 };

const at = (step: number, value: number | 'NaN' | undefined) => ({ step, value, at: step, attempt: 1 });

test('takeValues compares first at `afterSteps`, then every `everySteps`, with the running average and the best value', () => {
  const { memory, looks } = takeValues(
    settings,
    emptyEarlyMemory(),
    [1, 4, 1, 2, 0, 4].map((v, i) => at(i + 1, v)),
  );
  assert.deepEqual(
    looks.map(({ step, average, best }) => [step, average, best]),
    [
      [3, 2, 4],
      [5, 1.6, 4],
    ],
  );
  assert.equal(memory.n, 6);
});

test('takeValues ignores repeated steps of a later attempt and values that are not numbers', () => {
  const first = takeValues(settings, emptyEarlyMemory(), [at(1, 1), at(2, 'NaN'), at(3, undefined)]);
  assert.deepEqual(first.looks, []);
  const again = takeValues(settings, first.memory, [at(1, 100), at(2, 3)]);
  assert.equal(again.memory.sum, 4);
});

test('a late value completes all comparisons before its step', () => {
  const { looks } = takeValues({ ...settings, goal: 'min' }, emptyEarlyMemory(), [at(2, 5), at(8, 3)]);
  assert.deepEqual(
    looks.map(({ step, best }) => [step, best]),
    [
      [3, 3],
      [5, 3],
      [7, 3],
    ],
  );
});

test('a child is stopped if its best value is strictly worse than the median of enough others', () => {
  const look = { step: 3, average: 0.1, best: 0.4, at: 9, attempt: 1 };
  assert.equal(judgeLook(settings, look, [0.9]), undefined);
  assert.equal(judgeLook(settings, look, [0.4, 0.4]), undefined);
  const firing = judgeLook(settings, look, [0.2, 0.5, 0.9]);
  assert.equal(firing?.rule, 'early-stopping');
  assert.equal(
    firing?.reason,
    'early stopping: the best m by step 3 was 0.4, the median of the running averages of 3 others 0.5',
  );
  assert.equal(judgeLook({ ...settings, goal: 'min' }, look, [0.2, 0.5, 0.9]), undefined);
});

test('medianOf returns the middle value or the mean of the two middle values', () => {
  assert.equal(medianOf([3, 1, 2]), 2);
  assert.equal(medianOf([4, 1, 3, 2]), 2.5);
});
