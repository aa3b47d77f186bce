import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FLOAT32, FLOAT64 } from '../../src/arithmetic/arithmetic.ts';
import { chooseInputs, mismatchedReturns } from '../../src/bounds/inputs.ts';
import { handBatch } from '../support/hand-batch.ts';

const f = Math.fround;
const ROWS = [
  { trajectory: 'a', step: 0, reward: 0.1, valid: true, return: f(0.4), score: 0.4 },
  { trajectory: 'a', step: 1, reward: 0.3, valid: true, return: f(0.3), score: 0.4 },
];

describe('inputs of the estimator', () => {
  test('float32: the reported returns, as they are', () => {
    const { stepReturn, arithmetic } = chooseInputs(handBatch(ROWS));
    assert.equal(arithmetic, FLOAT32);
    assert.deepEqual([...stepReturn!.value], [f(0.4), f(0.3)]);
    assert.equal(stepReturn!.error, undefined);
  });

  test('without reported returns: recomputed, with what accumulation can add', () => {
    const { stepReturn } = chooseInputs(handBatch(ROWS.map(({ return: _, ...row }) => row)));
    assert.deepEqual([...stepReturn!.value], [0.1 + 0.3, 0.3]);
    assert.ok(stepReturn!.error!.every((e) => e > 0 && e < 1e-6));
  });

  test('float64: recomputed where that agrees with the report, else the report with its rounding', () => {
    const estimator = { precision: 'float64' } as const;
    const agreeing = chooseInputs(handBatch(ROWS, { estimator }));
    assert.equal(agreeing.arithmetic, FLOAT64);
    assert.equal(agreeing.stepReturn!.value[1], 0.3);
    const other = chooseInputs(
      handBatch(
        ROWS.map((row) => ({ ...row, return: f(0.7) })),
        { estimator },
      ),
    );
    assert.equal(other.stepReturn!.value[1], f(0.7));
    assert.ok(other.stepReturn!.error![1]! > 0);
  });

  test('scores that are no float32 numbers are rounded, and their distance to the stated ones is kept', () => {
    const { score } = chooseInputs(handBatch(ROWS));
    assert.deepEqual([...score!.value], [f(0.4), f(0.4)]);
    assert.deepEqual([...score!.stated!], [0.4, 0.4]);
    assert.deepEqual([...score!.rounding!], [f(0.4) - 0.4, f(0.4) - 0.4]);
    const representable = chooseInputs(handBatch(ROWS.map((row) => ({ ...row, score: 0.5 })))).score!;
    assert.deepEqual([representable.stated, representable.rounding], [undefined, undefined]);
  });

  test('float64: scores stay as stated, and may have been float32 numbers', () => {
    const { score } = chooseInputs(handBatch(ROWS, { estimator: { precision: 'float64' } }));
    assert.equal(score!.value[0], 0.4);
    assert.equal(score!.rounding![0], f(0.4) - 0.4);
  });

  test('nothing to compute from: nothing', () => {
    const inputs = chooseInputs(handBatch([{ trajectory: 'a', step: 0 }]));
    assert.deepEqual([inputs.stepReturn, inputs.score, inputs.recomputed], [undefined, undefined, undefined]);
  });

  test('a NaN return differs from a number, and from a NaN it does not', () => {
    const bounds = { stepReturn: Float64Array.of(1, Number.NaN, 1), error: new Float64Array(3) };
    const reported = Float64Array.of(Number.NaN, Number.NaN, 1);
    assert.deepEqual(mismatchedReturns(reported, bounds, FLOAT32), [0]);
  });
});
