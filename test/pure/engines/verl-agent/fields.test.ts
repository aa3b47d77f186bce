import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldDefaults, fieldOverrides, OWNED_KEYS } from '../../../../src/engines/verl-agent/fields.ts';
import { MERGED_CONFIG } from '../../../../src/engines/verl-agent/merged-config.ts';
import { resolveVerlAgent } from '../../../../src/engines/verl-agent/resolve.ts';
import { VerlAgentSpec } from '../../../../src/engines/verl-agent/spec.ts';

const SPEC = { engine: 'verl-agent', name: 'x', recipe: 'qwen2.5_7b_webshop_train' } as const;

test('every owned key exists in the configuration, and its field in the spec', () => {
  for (const [key, pointer] of OWNED_KEYS) {
    assert.ok(MERGED_CONFIG.has(key), key);
    let node = VerlAgentSpec as { properties?: Record<string, object> };
    for (const part of pointer.slice(1).split('/')) {
      assert.ok(node.properties && Object.hasOwn(node.properties, part), pointer);
      node = node.properties[part] as typeof node;
    }
  }
});

test('every field of rollout, training, model, critic and environment sets a key of the configuration', () => {
  const elsewhere = new Set(['/rollout/attentionBackend']);
  const set = new Set(OWNED_KEYS.values());
  for (const section of ['rollout', 'training', 'model', 'critic', 'environment'] as const) {
    for (const field of Object.keys(VerlAgentSpec.properties[section].properties)) {
      const pointer = `/${section}/${field}`;
      assert.ok(set.has(pointer) || elsewhere.has(pointer), pointer);
    }
  }
});

test('`never` and `all` are written as the configuration writes them', () => {
  const values = (training: object) =>
    new Map(
      fieldOverrides(resolveVerlAgent({ ...SPEC, training } as Parameters<typeof resolveVerlAgent>[0])),
    );
  const never = values({ saveEvery: 0, evaluateEvery: 0, keepCheckpoints: 0 });
  assert.equal(never.get('trainer.save_freq'), -1);
  assert.equal(never.get('trainer.test_freq'), -1);
  assert.equal(never.get('trainer.max_actor_ckpt_to_keep'), null);
  assert.equal(values({ keepCheckpoints: 3 }).get('trainer.max_actor_ckpt_to_keep'), 3);
});

test('fieldDefaults returns the defaults of the configuration as values of the spec', () => {
  const defaults = fieldDefaults((key) => (key === 'trainer.save_freq' ? -1 : null));
  assert.equal(defaults.training?.saveEvery, 0);
  assert.equal(defaults.training?.keepCheckpoints, 0);
  assert.ok(!Object.hasOwn(defaults.rollout!, 'maxGenerationBatches'));
});

test('only ppo sets keys of the critic', () => {
  const keys = (spec: Parameters<typeof resolveVerlAgent>[0]) =>
    fieldOverrides(resolveVerlAgent(spec)).filter(([key]) => key.startsWith('critic.'));
  assert.deepEqual(keys(SPEC), []);
  const critic = Object.fromEntries(
    keys({ ...SPEC, estimator: { name: 'ppo' }, critic: { learningRate: 2e-5 } }),
  );
  assert.equal(critic['critic.optim.lr'], 2e-5);
  assert.equal(critic['critic.model.path'], 'Qwen/Qwen2.5-7B-Instruct');
  assert.equal(critic['critic.ppo_micro_batch_size_per_gpu'], 2);
});
