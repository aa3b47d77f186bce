import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeRow } from '../../src/bounds/judged-row.ts';
import { createJudge } from '../../src/bounds/outcomes.ts';
import type { Batch } from '../../src/format/batch.ts';
import { goldenBatch } from '../support/golden-batches.ts';
import { reporting, tokenBatch, without } from '../support/token-batch.ts';

function judgedOf(batch: Batch, row: number) {
  const judge = createJudge(batch);
  assert.ok('model' in judge);
  return judgeRow(batch, judge, row);
}

test('the outcome of a row is that of its worst token, and of several the farthest', () => {
  const batch = tokenBatch('verl/gae-0.95, kl');
  const { offset, mask, reportedAdvantage } = batch.tokens!;
  const inMask = [...mask!.keys()].filter((t) => t >= offset[1]! && t < offset[2]! && mask![t] === 1);
  const [near, far] = inMask as [number, number];
  const values = reportedAdvantage!.slice();
  values[near]! += 0.01;
  values[far]! -= 0.2;
  const judged = judgedOf(reporting(batch, values), 1);
  assert.deepEqual(
    { ...judged, reported: undefined },
    { outcome: 'wrong', at: far, token: far - offset[1]!, reported: undefined },
  );
  assert.equal(judgedOf(reporting(batch, values), 0)!.outcome, 'exact');
});

test('tokens outside the mask are not judged, and a row without a token of the mask is exact', () => {
  const batch = tokenBatch('skyrl/gae, outcome');
  const { mask, reportedAdvantage } = batch.tokens!;
  const junk = reportedAdvantage!.map((x, t) => (mask![t] === 0 ? 1e9 : x));
  assert.equal(judgedOf(reporting(batch, junk), 0)!.outcome, 'exact');
  const unmasked = tokenBatch('slime/ppo, outcome', { mask: mask!.map((m, t) => (t < 5 ? 0 : m)) });
  assert.deepEqual(judgedOf(unmasked, 0), { outcome: 'exact' });
});

test('of an estimator with one advantage per row the row itself is judged, and nothing if nothing is reported', () => {
  const batch = goldenBatch('grpo-std-0');
  const judged = judgedOf(batch, 2)!;
  assert.deepEqual([judged.at, judged.token, judged.reported], [2, undefined, batch.reportedAdvantage![2]]);
  assert.equal(judgedOf(without(tokenBatch('verl/gae, kl'), 'reportedAdvantage'), 0), undefined);
});
