import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Accumulate, accumulate, type MaskedTokens } from '../../../src/kernel/stages/accumulate.ts';

const RETURNS: Accumulate = { do: 'accumulate', discount: 0.5, lambda: 1, values: false, masked: 'skip' };

/** Two responses: tokens 0 to 2, of which 1 is outside the mask, and token 3. */
function sums(stage: Partial<Accumulate>, value: readonly number[] = []): number[] {
  const tokens = {
    offset: Int32Array.of(0, 3, 4),
    mask: Uint8Array.of(1, 0, 1, 1),
    column: () => Float64Array.from(value),
  };
  return [...accumulate({ ...RETURNS, ...stage }, tokens, Float64Array.of(1, 10, 4, 7))];
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
