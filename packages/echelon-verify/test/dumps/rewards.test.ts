import assert from 'node:assert/strict';
import { test } from 'node:test';
import { numberOf, promptKey, weightedRewards } from '../../src/dumps/rewards.ts';

const column = (...values: number[]): Float64Array => Float64Array.of(...values);

test('cells are numbers or NaN, prompts are texts or messages', () => {
  assert.deepEqual([1.5, 2n, true, null, 'x', undefined].map(numberOf), [1.5, 2, 1, NaN, NaN, NaN]);
  assert.equal(promptKey('p'), 'p');
  assert.equal(promptKey([{ role: 'user', tokens: 3n }]), '[{"role":"user","tokens":3}]');
  assert.equal(promptKey(undefined), '');
});

test('the weighted sum is that of float32, and NaN counts as 0', () => {
  const { sum, error } = weightedRewards([column(1, NaN), column(0.1, 0.1)], [1, 0.3], 'f');
  const term = Math.fround(Math.fround(0.3) * Math.fround(0.1));
  assert.deepEqual([...sum], [Math.fround(1 + term), term]);
  assert.equal(error, undefined);
});

test('three terms that do not add exactly have an error', () => {
  const { error } = weightedRewards([column(0.1, 1), column(0.2, 2), column(0.3, 0.5)], undefined, 'f');
  assert.ok(error![0]! > 0);
  assert.equal(error![1], 0);
});

test('as many weights as reward functions', () => {
  assert.throws(() => weightedRewards([column(1)], [1, 2], 'f'), /expected 1 weights, .* found 2/);
});
