import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimatorOfId } from '../../src/dumps/dump-batch.ts';
import { MAX_VERIFICATION_BYTES, verificationBytes } from '../../src/format/budget.ts';
import { verifyBatch } from '../../src/verify/verify-batch.ts';
import { goldenBatch } from '../support/golden-batches.ts';
import { restated } from '../support/stated.ts';

test('memory grows with rows and levels, but no trajectory has more levels than steps', () => {
  const batch = goldenBatch('alfworld-scale');
  const needed = (historyLength: number): number => verificationBytes(restated(batch, { historyLength }));
  assert.ok(needed(4) > needed(2) && needed(2) > 100 * batch.rows);
  assert.equal(needed(1024), needed(1000));
  assert.ok(needed(1024) < 20_000 * batch.rows);
  assert.ok(verificationBytes(goldenBatch('grpo-std-0')) < verificationBytes(batch));
});

test('memory grows with the reward functions of an estimator that uses each of them', () => {
  const batch = { ...goldenBatch('grpo-std-0'), estimator: estimatorOfId('trl/gdpo') };
  const values = new Float64Array(batch.rows);
  const rewards = ['a', 'b'].map((name) => ({ name, weight: 1, value: values }));
  const grown = verificationBytes({ ...batch, rewards }) - verificationBytes(batch);
  assert.ok(grown > 2 * 100 * batch.rows);
});

test('a batch that would take too much is unverifiable, in little time and memory', () => {
  const rows = 60_000;
  const ids = new Int32Array(rows);
  const batch = {
    ...goldenBatch('single-trajectory-revisits'),
    rows,
    group: ids,
    groupNames: ['g'],
    trajectory: ids,
    trajectoryNames: ['t'],
    step: ids.map((_, row) => row),
    observation: ids.map((_, row) => row % 3),
    reward: new Float64Array(rows),
    actionValid: new Uint8Array(rows).fill(1),
    tokenLevelRewardSum: new Float64Array(rows),
    responseLength: ids.map(() => 1),
    reportedStepReward: new Float64Array(rows),
    reportedAdvantage: new Float64Array(rows),
  };
  const deep = restated(batch, { historyLength: 1024 });
  assert.ok(verificationBytes(deep) > MAX_VERIFICATION_BYTES);
  const report = verifyBatch(deep);
  assert.equal(report.unverifiable, rows);
  assert.equal(report.ok, false);
  assert.ok(report.findings.some((f) => f.code === 'budget-exceeded'));
});
