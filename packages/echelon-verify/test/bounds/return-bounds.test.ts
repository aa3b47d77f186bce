import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FLOAT32 } from '../../src/arithmetic/arithmetic.ts';
import { returnBounds } from '../../src/bounds/return-bounds.ts';

test('float32 accumulation lies within the bounds', () => {
  const f = Math.fround;
  fc.assert(
    fc.property(
      fc.array(fc.record({ reward: fc.double({ min: -20, max: 20, noNaN: true }), valid: fc.boolean() }), {
        minLength: 1,
        maxLength: 60,
      }),
      fc.constantFrom(1, 0.95, 0.9, 0.1),
      (steps, gamma) => {
        const reward = Float64Array.from(steps, (step) => step.reward);
        const actionValid = Uint8Array.from(steps, (step) => Number(step.valid));
        const trajectory = new Int32Array(steps.length);
        const columns = { trajectory, reward, actionValid, gamma, invalidActionPenalty: 0.1 };
        const { stepReturn, error } = returnBounds(columns, FLOAT32);
        let ahead = 0;
        for (let row = steps.length - 1; row >= 0; row--) {
          ahead = f(f(reward[row]!) + f(f(gamma) * ahead));
          const value = actionValid[row] === 0 ? f(ahead - f(0.1)) : ahead;
          assert.ok(Math.abs(value - stepReturn[row]!) <= error[row]!);
        }
      },
    ),
  );
});

test('the bounds are tight: a change in the sixth digit is outside', () => {
  const reward = Float64Array.of(0, 0, 0, 10);
  const columns = { trajectory: new Int32Array(4), reward, gamma: 0.95, invalidActionPenalty: 0 };
  const { stepReturn, error } = returnBounds(columns, FLOAT32);
  assert.ok(Math.abs(stepReturn[0]! - 10 * 0.95 ** 3) < 1e-12);
  for (let row = 0; row < 4; row++) assert.ok(error[row]! < 2e-6 * stepReturn[row]!);
});
