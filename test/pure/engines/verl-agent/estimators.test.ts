import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  completeVerlAgentEstimator,
  ESTIMATOR_KEYS,
  estimatorOverrides,
  estimatorProblems,
} from '../../../../src/engines/verl-agent/estimators.ts';
import { MERGED_CONFIG } from '../../../../src/engines/verl-agent/merged-config.ts';

const RECIPE = { mode: 'mean_norm', gamma: 0.95, invalidActionPenalty: 0.1 } as const;
type Given = Parameters<typeof completeVerlAgentEstimator>[0];
const settings = (given: Given) =>
  Object.fromEntries(estimatorOverrides(completeVerlAgentEstimator(given, RECIPE)));
const PENALTY = {
  'actor_rollout_ref.actor.use_invalid_action_penalty': true,
  'actor_rollout_ref.actor.invalid_action_penalty_coef': 0.1,
};

describe('estimators', () => {
  test('each estimator sets exactly its own keys', () => {
    assert.deepEqual(settings(undefined), {
      'algorithm.adv_estimator': 'hgpo',
      'algorithm.hgpo.mode': 'mean_norm',
      'algorithm.hgpo.weight_type': 'length',
      'algorithm.hgpo.length_weight_alpha': 1,
      'algorithm.hgpo.base_group': false,
      'algorithm.gamma': 0.95,
      ...PENALTY,
    });
    assert.deepEqual(settings({ name: 'gigpo', stepAdvantageWeight: 0.5 }), {
      'algorithm.adv_estimator': 'gigpo',
      'algorithm.gigpo.mode': 'mean_norm',
      'algorithm.gigpo.step_advantage_w': 0.5,
      'algorithm.gamma': 0.95,
      ...PENALTY,
    });
    assert.deepEqual(settings({ name: 'grpo', normalizeByStd: false }), {
      'algorithm.adv_estimator': 'grpo',
      'algorithm.norm_adv_by_std_in_grpo': false,
      ...PENALTY,
    });
    assert.deepEqual(settings({ name: 'rloo' }), { 'algorithm.adv_estimator': 'rloo', ...PENALTY });
  });

  test('an estimator over tokens does not discount them', () => {
    assert.deepEqual(settings({ name: 'ppo', lambda: 0.9 }), {
      'algorithm.adv_estimator': 'gae',
      'algorithm.gamma': 1,
      'algorithm.lam': 0.9,
      ...PENALTY,
    });
    assert.equal(settings({ name: 'reinforce_plus_plus' })['algorithm.gamma'], 1);
    assert.equal(
      settings({ name: 'reinforce_plus_plus', baseline: true })['algorithm.adv_estimator'],
      'reinforce_plus_plus_baseline',
    );
    const [problem] = estimatorProblems({ name: 'ppo', gamma: 0.95 });
    assert.equal(problem?.field, '/estimator/gamma');
    assert.match(problem.message, /tokenGamma/);
  });

  test('an estimator with penalty 0 disables the penalty', () => {
    const without = settings({ name: 'rloo', invalidActionPenalty: 0 });
    assert.equal(without['actor_rollout_ref.actor.use_invalid_action_penalty'], false);
  });

  test('GraphGPO has its own keys and its own trainer, which runs no other estimator', () => {
    const graph = completeVerlAgentEstimator(undefined, { ...RECIPE, gamma: 0.1 }, 'graphgpo');
    assert.deepEqual(Object.fromEntries(estimatorOverrides(graph)), {
      'algorithm.adv_estimator': 'graphgpo',
      'algorithm.graphgpo.mode': 'mean_norm',
      'algorithm.graphgpo.step_advantage_w': 1,
      'algorithm.graphgpo.episode_advantage_w': 1,
      'algorithm.graphgpo.normalize_distance': false,
      'algorithm.gamma': 0.1,
      ...PENALTY,
    });
    assert.deepEqual(estimatorProblems({ name: 'graphgpo', episodeAdvantageWeight: 0 }, 'graphgpo'), []);
    assert.match(
      estimatorProblems({ name: 'gigpo' }, 'graphgpo')[0]!.message,
      /algorithm\.graphgpo for gigpo/,
    );
    assert.match(estimatorProblems({ name: 'graphgpo' })[0]!.message, /starts with graphgpo_/);
  });

  test('an estimator field without effect is refused', () => {
    const fields = estimatorProblems({ name: 'grpo', mode: 'mean_norm', gamma: 1 }).map(({ field }) => field);
    assert.deepEqual(fields, ['/estimator/mode', '/estimator/gamma']);
    assert.deepEqual(estimatorProblems({ lengthWeightAlpha: 0 }), []);
  });

  test('every key of an estimator exists in the configuration', () => {
    for (const key of ESTIMATOR_KEYS.keys()) assert.ok(MERGED_CONFIG.has(key), key);
  });
});
