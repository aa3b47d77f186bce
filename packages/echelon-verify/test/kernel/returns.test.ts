import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { stepReturns } from '../../src/kernel.ts';

describe('stepReturns', () => {
  test('discounts backwards inside each trajectory; the penalty stays in its own step', () => {
    const returns = stepReturns(
      {
        trajectory: Int32Array.of(0, 1, 0, 1, 0),
        reward: Float64Array.of(0, 0, 0, 4, 8),
        actionValid: Uint8Array.of(1, 1, 0, 0, 1),
      },
      { gamma: 0.5, invalidActionPenalty: 0.25 },
    );
    assert.deepEqual(Array.from(returns), [2, 2, 3.75, 3.75, 8]);
  });

  test('gamma 1 sums up, gamma 0 keeps each reward', () => {
    const columns = { trajectory: new Int32Array(3), reward: Float64Array.of(1, 2, 3) };
    assert.deepEqual(Array.from(stepReturns(columns, { gamma: 1, invalidActionPenalty: 9 })), [6, 5, 3]);
    assert.deepEqual(Array.from(stepReturns(columns, { gamma: 0, invalidActionPenalty: 9 })), [1, 2, 3]);
  });

  test('satisfies R_t = r_t + γ·R_{t+1} for any interleaving, and NaN stays in its trajectory', () => {
    const row = fc.tuple(
      fc.nat({ max: 4 }),
      fc.oneof(fc.constant(Number.NaN), fc.integer({ min: -5, max: 5 })),
    );
    fc.assert(
      fc.property(fc.array(row), fc.constantFrom(0, 0.5, 1), (rows, gamma) => {
        const trajectory = Int32Array.from(rows, ([t]) => t);
        const reward = Float64Array.from(rows, ([, r]) => r);
        const returns = stepReturns({ trajectory, reward }, { gamma, invalidActionPenalty: 1 });
        rows.forEach(([t, r], at) => {
          const next = rows.findIndex(([other], later) => later > at && other === t);
          assert.ok(Object.is(returns[at]!, next === -1 ? r : r + gamma * returns[next]!), `row ${at}`);
        });
      }),
    );
  });

  test('the empty batch has no returns; unequal columns are refused', () => {
    const none = { trajectory: new Int32Array(0), reward: new Float64Array(0) };
    assert.equal(stepReturns(none, { gamma: 1, invalidActionPenalty: 0 }).length, 0);
    const bent = { trajectory: new Int32Array(1), reward: new Float64Array(2) };
    assert.throws(() => stepReturns(bent, { gamma: 1, invalidActionPenalty: 0 }), RangeError);
  });
});
