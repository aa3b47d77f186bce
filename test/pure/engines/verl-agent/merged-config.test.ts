import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MERGED_CONFIG, mergedDefault } from '../../../../src/engines/verl-agent/merged-config.ts';
import { RECIPES } from '../../../../src/engines/verl-agent/recipes.ts';

test('every key of every script exists in the merged configuration', () => {
  for (const { overrides } of RECIPES) for (const [key] of overrides) assert.ok(MERGED_CONFIG.has(key), key);
});

test('the merged configuration has the defaults that plans work around', () => {
  assert.equal(mergedDefault('algorithm.filter_groups.max_num_gen_batches'), '0');
  assert.equal(mergedDefault('algorithm.adv_estimator'), 'gae');
  assert.equal(mergedDefault('trainer.val_only'), 'false');
});

test('mergedDefault follows references and returns undefined for an unknown key', () => {
  assert.equal(mergedDefault('critic.forward_micro_batch_size_per_gpu'), 'null');
  assert.equal(mergedDefault('critic.ppo_mini_batch_size'), '256');
  assert.equal(mergedDefault('algorithm.hgpo.epsilon'), undefined);
  for (const [key, value] of MERGED_CONFIG) {
    assert.match(key, /^[a-z_]+(\.[A-Za-z_]+)+$/);
    assert.notEqual(value, '', key);
    assert.notEqual(mergedDefault(key), undefined, key);
  }
});
