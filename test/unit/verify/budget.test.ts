import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verificationBytes } from '../../../src/verify/budget.ts';
import { goldenBatch } from '../../support/golden-batches.ts';

test('memory grows with rows and levels, but no trajectory has more levels than steps', () => {
  const batch = goldenBatch('alfworld-scale');
  const needed = (historyLength: number): number =>
    verificationBytes({ ...batch, estimator: { ...batch.estimator, historyLength } });
  assert.ok(needed(4) > needed(2) && needed(2) > 100 * batch.rows);
  assert.equal(needed(1024), needed(1000));
  assert.ok(needed(1024) < 20_000 * batch.rows);
  assert.ok(verificationBytes(goldenBatch('grpo-std-0')) < verificationBytes(batch));
});
