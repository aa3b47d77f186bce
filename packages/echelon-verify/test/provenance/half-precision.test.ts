import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { batchOf, estimatorOfId } from '../../src/dumps/dump-batch.ts';
import type { Batch } from '../../src/format/batch.ts';
import { estimate } from '../../src/identify/estimate.ts';
import { identify } from '../../src/identify/identify.ts';
import { verifyBatch } from '../../src/verify/verify-batch.ts';
import { bfloat16, float16 } from '../support/bfloat16.ts';

/** Two groups of four scores with the advantages that GRPO gives them, each through `kept`. */
function batchWith(scores: readonly number[], kept: (advantage: number) => number): Batch {
  const step = {
    name: 'step 1',
    reward: Float64Array.from(scores),
    group: { ids: Int32Array.from(scores, (_, row) => row >> 2), names: ['a', 'b'] },
    findings: [],
    file: 'f',
  };
  const batch = batchOf(step, estimatorOfId('verl/grpo'));
  return { ...batch, reportedAdvantage: estimate(batch).advantage.map(kept) };
}

const codes = (batch: Batch) => verifyBatch(batch).findings.filter(({ code }) => code.startsWith('looks-'));
const inPrecision = (batch: Batch, precision: Batch['estimator']['precision']): Batch => ({
  ...batch,
  estimator: { ...batch.estimator, precision },
});

const BINARY = [1, 0, 0, 0, 1, 1, 0, 1];
const DECIMAL = [0.1, 0.35, 0.7, 1, 0.35, 0.35, 0.1, 0];

describe('values that look rounded to bfloat16', () => {
  test('advantages in bfloat16 are wrong with a warning unless the batch states it', () => {
    const batch = batchWith(DECIMAL, bfloat16);
    const report = verifyBatch(batch);
    assert.ok(report.wrong >= 6 && !report.ok);
    assert.match(
      codes(batch)[0]!.message,
      /^All reported advantages look rounded to bfloat16: 8 rows, such as/,
    );
    for (const precision of ['bfloat16', 'bfloat16-output'] as const) {
      const stated = verifyBatch(inPrecision(batch, precision));
      assert.deepEqual([stated.ok, stated.wrong, stated.unverifiable], [true, 0, 0], precision);
      assert.ok(!stated.findings.some(({ code }) => code === 'looks-bfloat16'));
      assert.ok(stated.fingerprint.endsWith(`,precision=${precision})`));
    }
  });

  test('advantages in float16 are wrong with a warning unless the batch states it', () => {
    const batch = batchWith(DECIMAL, float16);
    const report = verifyBatch(batch);
    assert.ok(report.wrong >= 6 && !report.ok);
    const [hint] = report.findings.filter(({ code }) => code === 'looks-float16');
    assert.match(hint!.message, /^All reported advantages look rounded to float16: 8 rows, such as/);
    for (const precision of ['float16', 'float16-output'] as const) {
      const stated = verifyBatch(inPrecision(batch, precision));
      assert.deepEqual([stated.ok, stated.wrong, stated.unverifiable], [true, 0, 0], precision);
      assert.ok(!stated.findings.some(({ code }) => code === 'looks-float16'));
    }
    assert.equal(identify([batch]).looksRounded, 'float16');
    const rewards = batchWith(DECIMAL.map(float16), Math.fround);
    const [ofRewards] = verifyBatch(rewards).findings.filter(({ code }) => code === 'looks-float16');
    assert.match(ofRewards!.message, /^All rewards look rounded to float16, such as 0\.09997558/);
  });

  test('an infinite advantage in float16 is unverifiable: the format ends at 65504', () => {
    const batch = inPrecision(
      batchWith(BINARY, () => Number.POSITIVE_INFINITY),
      'float16-output',
    );
    assert.deepEqual([verifyBatch(batch).wrong, verifyBatch(batch).unverifiable], [0, 8]);
  });

  test('advantages in float32, and wrong ones that are no neighbours, get no warning', () => {
    assert.deepEqual(codes(batchWith(DECIMAL, Math.fround)), []);
    assert.deepEqual(codes(batchWith(BINARY, () => 0)), []);
    assert.deepEqual(codes(batchWith(BINARY, (x) => Math.round(x))), []);
  });

  test('a deviation by the wrong divisor is wrong in bfloat16-output, and in bfloat16 in the recipe’s forms', () => {
    // Population instead of sample: off by 15 %.
    const batch = batchWith(BINARY, (x) => bfloat16(x * Math.sqrt(4 / 3)));
    assert.equal(verifyBatch(inPrecision(batch, 'bfloat16-output')).wrong, 8);
    const { estimator } = inPrecision(batch, 'bfloat16');
    assert.equal(verifyBatch({ ...batch, estimator: { ...estimator, forms: 'recipe' } }).wrong, 8);
  });

  test('rewards in bfloat16 get a warning; whole numbers, halves and cases of 256 do not', () => {
    assert.match(
      codes(batchWith(DECIMAL.map(bfloat16), Math.fround))[0]!.message,
      /^All rewards .* such as 0\.1000976562/,
    );
    for (const scores of [BINARY, [77, 99, 3, 0, 1, 2, 5, 127], [0.5, 131 / 256, 1, 0, 0.75, 3 / 64, 1, 0]])
      assert.deepEqual(codes(batchWith(scores, Math.fround)), []);
  });

  test('identify says so if no form fits, and finds the form once the precision is stated', () => {
    const batch = batchWith(DECIMAL, bfloat16);
    const found = identify([batch]);
    assert.deepEqual([found.fits.length, found.looksRounded], [0, 'bfloat16']);
    const stated = identify([inPrecision(batch, 'bfloat16-output')]);
    assert.ok(stated.fits.some(({ forms }) => forms.some(({ id }) => id === 'verl/grpo')));
    assert.equal(stated.looksRounded, undefined);
    assert.equal(identify([batchWith(DECIMAL, (x) => x + 0.1)]).looksRounded, undefined);
  });
});
