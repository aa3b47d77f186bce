import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDraft } from '../../../../src/engines/verl-agent/draft.ts';

const SCRIPT = [
  ['algorithm.gamma', '0.95'],
  ['algorithm.hgpo.length_weight_alpha', '1.0'],
  ['env.seed', '0'],
] as const;

test('a draft retains the text of the script for an equal value', () => {
  const draft = createDraft(SCRIPT);
  draft.set('algorithm.gamma', 0.95);
  draft.set('algorithm.hgpo.length_weight_alpha', 1);
  draft.set('trainer.balance_batch', true);
  assert.deepEqual(
    draft.overrides(),
    SCRIPT.map((entry) => entry.join('=')),
  );
  assert.deepEqual([draft.changes(), draft.corrections()], [[], []]);
});

test('a draft changes, appends and removes overrides, and separates changes from corrections', () => {
  const draft = createDraft(SCRIPT);
  draft.set('algorithm.gamma', 1);
  draft.set('trainer.balance_batch', false);
  draft.set('env.seed', null, 'why');
  assert.deepEqual(draft.overrides(), [
    'algorithm.gamma=1',
    'algorithm.hgpo.length_weight_alpha=1.0',
    'trainer.balance_batch=False',
  ]);
  assert.deepEqual(draft.changes(), [
    { key: 'algorithm.gamma', from: '0.95', to: '1' },
    { key: 'trainer.balance_batch', from: null, to: 'False' },
  ]);
  assert.deepEqual(draft.corrections(), [{ key: 'env.seed', from: '0', to: null, reason: 'why' }]);
});

test('a draft forgets a change that is reverted', () => {
  const draft = createDraft(SCRIPT);
  draft.set('trainer.balance_batch', false);
  draft.set('trainer.balance_batch', true);
  assert.equal(draft.value('trainer.balance_batch'), true);
  assert.deepEqual(draft.changes(), []);
});
