import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleTokens, tokenColumns } from '../../src/dumps/slime-tokens.ts';

const SAMPLE = { mask: [0, 1], advantages: [9, 0.5], values: [0.25, 0.75], kl: [0, 0], reward: 1 };

test('the reward of a sample stands at its last token', () => {
  const columns = tokenColumns([sampleTokens(SAMPLE), sampleTokens({ ...SAMPLE, reward: -2 })])!;
  assert.deepEqual([...columns.offset], [0, 2, 4]);
  assert.deepEqual([...columns.reward!], [0, 1, 0, -2]);
  assert.deepEqual([...columns.mask!, ...columns.value!], [0, 1, 0, 1, 0.25, 0.75, 0.25, 0.75]);
  assert.deepEqual([...columns.reportedAdvantage!], [9, 0.5, 9, 0.5]);
});

test('rewards of tokens are unknown with a KL term, and if the last token is masked; values if a sample has none', () => {
  for (const change of [{ kl: [0, 0.1] }, { mask: [1, 0] }, { reward: undefined }]) {
    const columns = tokenColumns([sampleTokens(SAMPLE), sampleTokens({ ...SAMPLE, ...change })])!;
    assert.equal(columns.reward, undefined);
    assert.equal(columns.value!.length, 4);
  }
  assert.equal(tokenColumns([sampleTokens({ ...SAMPLE, values: [] })])!.value, undefined);
  assert.equal(tokenColumns([sampleTokens(SAMPLE), undefined]), undefined);
});
