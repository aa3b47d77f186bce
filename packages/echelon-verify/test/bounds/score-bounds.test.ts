import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FLOAT32 } from '../../src/arithmetic/arithmetic.ts';
import { mismatchedScores } from '../../src/bounds/score-bounds.ts';
import { allGoldenBatches } from '../support/golden-batches.ts';
import { handBatch } from '../support/hand-batch.ts';

test('golden scores come from their rewards', () => {
  for (const batch of allGoldenBatches()) {
    assert.deepEqual(mismatchedScores(batch, FLOAT32)?.rows, [], batch.name);
  }
});

test('a score off by a millionth is found, one off by rounding is not', () => {
  const rows = [0.1, 0.2, 0.3].map((reward, step) => ({
    trajectory: 'a',
    step,
    reward,
    valid: true,
    score: 0.6,
  }));
  const scored = (score: number): number[] | undefined =>
    mismatchedScores(handBatch(rows.map((row) => ({ ...row, score }))), FLOAT32)?.rows;
  assert.deepEqual(scored(Math.fround(0.6)), []);
  assert.deepEqual(scored(0.600001), [0, 1, 2]);
});

test('one score for a whole trajectory is its rewards, with all its penalties or with none', () => {
  const checked = (score: number, statistics: 'rows' | 'trajectories'): number[] | undefined => {
    const rows = [true, false, false].map((valid, step) => ({
      trajectory: 'a',
      step,
      reward: 1,
      valid,
      score,
    }));
    const estimator = { name: 'grpo', statistics, invalidActionPenalty: 0.25 } as const;
    return mismatchedScores(handBatch(rows, { estimator }), FLOAT32)?.rows;
  };
  assert.deepEqual(checked(3, 'trajectories'), []);
  assert.deepEqual(checked(2.5, 'trajectories'), []);
  assert.deepEqual(checked(2.75, 'trajectories'), [0, 1, 2]);
  assert.deepEqual(checked(3, 'rows'), [1, 2]);
});

test('cannot be checked without rewards, or without the valid flags if there is a penalty', () => {
  assert.equal(mismatchedScores(handBatch([{ trajectory: 'a', score: 1 }]), FLOAT32), undefined);
  assert.equal(mismatchedScores(handBatch([{ trajectory: 'a', score: 1, reward: 1 }]), FLOAT32), undefined);
});
