import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FLOAT32 } from '../../../src/arithmetic/arithmetic.ts';
import type { Accumulate, MaskedTokens } from '../../../src/kernel/stages/accumulate.ts';
import { boundOne, runOne } from '../../support/one-stage.ts';

const RETURNS: Accumulate = { do: 'accumulate', discount: 0.5, lambda: 1, values: false, masked: 'skip' };

/** Two responses: tokens 0 to 2, of which 1 is outside the mask, and token 3. */
function sums(stage: Partial<Accumulate>, value: readonly number[] = []): number[] {
  const tokens = { offset: [0, 3, 4], mask: [1, 0, 1, 1], columns: { reward: [1, 10, 4, 7], value } };
  return runOne({ ...RETURNS, ...stage }, tokens);
}

test('returns are discounted within a response, and a token outside the mask has none', () => {
  assert.deepEqual(sums({}), [3, 0, 4, 7]);
  assert.deepEqual(sums({ discount: 1 }), [5, 0, 4, 7]);
});

test('a token outside the mask is ignored, counts, has reward 0, or starts the sum again', () => {
  const first = (masked: MaskedTokens) => sums({ masked })[0];
  assert.deepEqual([first('skip'), first('include'), first('zero'), first('reset')], [3, 7, 2, 1]);
});

test('with values the sum is the generalised advantage, and 0 follows the last token', () => {
  const stage = { discount: 0.5, lambda: 0.5, values: true };
  // Token 2: 4 − 2. Token 0: 1 + 0.5 · 2 − 8 + 0.25 · 2, the value 100 of token 1 ignored.
  assert.deepEqual(sums(stage, [8, 100, 2, 3]), [-5.5, 0, 2, 4]);
  // Token 1: 10 + 0.5 · 2 − 100 + 0.25 · 2 = −88.5; token 0: 1 + 0.5 · 100 − 8 − 0.25 · 88.5.
  assert.equal(sums({ ...stage, masked: 'include' }, [8, 100, 2, 3])[0], 20.875);
  // Token 1 with reward and value 0: 0.5 · 2 + 0.25 · 2 = 1.5; token 0: 1 − 8 + 0.25 · 1.5.
  assert.equal(sums({ ...stage, masked: 'zero' }, [8, 100, 2, 3])[0], -6.625);
});

const TOKENS = 2000;
const UNDISCOUNTED: Accumulate = { ...RETURNS, discount: 1 };

/** Half the width of the interval of the first token. */
function radius(stage: Partial<Accumulate>, reward: Float64Array, forms: 'any' | 'recipe' = 'any'): number {
  const tokens = { offset: [0, reward.length], columns: { reward, value: reward }, forms };
  const { low, high } = boundOne({ ...UNDISCOUNTED, ...stage }, tokens, FLOAT32).column;
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
  const tokens = { offset: [0, 2], columns: { reward: [2 ** 126, -(2 ** 126)] } };
  assert.deepEqual([...boundOne(UNDISCOUNTED, tokens, FLOAT32).overflow], [1, 1]);
});
