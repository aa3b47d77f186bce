import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FLOAT32 } from '../../../src/arithmetic/arithmetic.ts';
import type { IntervalColumn } from '../../../src/arithmetic/interval.ts';
import type { Accumulate } from '../../../src/kernel/stages/accumulate.ts';
import { boundAccumulate } from '../../../src/kernel/stages/accumulate-bounds.ts';

const TOKENS = 2000;
const RETURNS: Accumulate = { do: 'accumulate', discount: 1, lambda: 1, values: false, masked: 'skip' };

const known = (value: Float64Array): IntervalColumn => ({ value, low: value, high: value });

/** Half the width of the interval of the first token. */
function radius(stage: Partial<Accumulate>, reward: Float64Array, forms: 'any' | 'recipe' = 'any'): number {
  const mask = new Uint8Array(reward.length).fill(1);
  const sequences = { offset: Int32Array.of(0, reward.length), mask, column: () => known(reward) };
  const overflow = new Uint8Array(reward.length);
  const given = { sequences, reward: known(reward), arithmetic: FLOAT32, forms, overflow };
  const { low, high } = boundAccumulate({ ...RETURNS, ...stage }, given);
  return (high[0]! - low[0]!) / 2;
}

const atEnd = new Float64Array(TOKENS);
atEnd[TOKENS - 1] = 0.7;
const noise = Float64Array.from({ length: TOKENS }, (_, t) => Math.fround(Math.sin(t)));

test('one reward without a discount keeps a few roundings, however long the response is', () => {
  assert.ok(radius({}, atEnd) < 400 * FLOAT32.unit);
  assert.ok(radius({}, atEnd, 'recipe') < FLOAT32.unit);
});

test('a discount rounds at every token, and a sum of no terms not at all', () => {
  const discounted = radius({ discount: 0.999 }, atEnd, 'recipe');
  const value = 0.7 * 0.999 ** (TOKENS - 1);
  assert.ok(discounted > TOKENS * FLOAT32.unit * value && discounted < 3 * TOKENS * FLOAT32.unit * value);
  assert.equal(radius({ discount: 0.9 }, new Float64Array(TOKENS)), 0);
});

test('token by token is tighter than in blocks, and both hold for a discount near 1 and for 0', () => {
  for (const discount of [0, 0.5, 0.95, 0.9999, 1]) {
    const stage = { discount, values: true };
    assert.ok(radius(stage, noise, 'recipe') <= radius(stage, noise));
    assert.ok(radius(stage, noise) < 0.03, `discount ${discount}: ${radius(stage, noise)}`);
  }
});

test('a sum of sizes beyond the range says nothing of any token', () => {
  const overflow = new Uint8Array(2);
  const reward = known(Float64Array.of(2 ** 126, -(2 ** 126)));
  const sequences = { offset: Int32Array.of(0, 2), mask: Uint8Array.of(1, 1), column: () => reward };
  boundAccumulate(RETURNS, { sequences, reward, arithmetic: FLOAT32, forms: 'any', overflow });
  assert.deepEqual([...overflow], [1, 1]);
});
