import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainRow } from '../../../src/explain/explain.ts';
import { formatExplanation } from '../../../src/explain/explain-text.ts';
import { stageText } from '../../../src/kernel/stages/table.ts';
import { goldenEstimates } from '../../support/golden-estimators.ts';

test('each stage of every golden chain has a text of its own', () => {
  for (const { batch } of goldenEstimates()) {
    const texts = explainRow(batch, 0).stages?.map(({ text }) => text) ?? [];
    assert.equal(new Set(texts).size, texts.length, batch.name);
    assert.ok(texts.every((text) => text.length > 5));
  }
  assert.equal(stageText({ do: 'clip', limit: 10 }), 'clipped to ±10');
});

test('an explanation of a chain shows the value after each stage, and ends with the true value', () => {
  const { batch } = goldenEstimates().find(({ form }) => form === 'trl/grpo-batch')!;
  const explanation = explainRow(batch, 0);
  assert.equal(explanation.stages!.at(-1)!.value, explanation.true);
  const text = formatExplanation(explanation);
  assert.match(text, /less the mean of the group +0\.75/);
  assert.match(text, /sample deviation of scores in the batch, epsilon 0\.0001 \(added\) +1\.557169/);
  assert.doesNotMatch(text, /Together/);
  const others = goldenEstimates().find(({ form }) => form === 'trl/rloo')!;
  assert.doesNotMatch(formatExplanation(explainRow(others.batch, 0)), /mean 0\.25/);
});
