import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { missingFrom } from '../../../../src/core/trees.ts';
import { checkExperiment } from '../../../../src/engines/verl-agent/checks.ts';
import { resolveVerlAgent } from '../../../../src/engines/verl-agent/resolve.ts';
import { RECIPE_NAMES, type VerlAgentSpec } from '../../../../src/engines/verl-agent/spec.ts';
import { resolveSpec } from '../../../../src/plan/resolve-spec.ts';

const TRAIN: VerlAgentSpec = { engine: 'verl-agent', name: 'x', recipe: 'qwen2.5_1.5b_alfworld_train' };
const checkpoint = { directory: 'qwen2.5_1.5b_alfworld_train/k4_hgpo-0123456789' };

function check(spec: Partial<VerlAgentSpec> = {}) {
  const full = { ...TRAIN, ...spec };
  const resolved = resolveVerlAgent(full);
  return checkExperiment({ spec: resolved, defaults: missingFrom(full, { ...resolved }) });
}
const names = (severity: string, spec: Partial<VerlAgentSpec> = {}) =>
  check(spec)
    .filter((finding) => finding.severity === severity)
    .map((finding) => finding.check);

describe('checks', () => {
  test('the checks find no problem in any recipe and state its padding multiple', () => {
    const multiples = RECIPE_NAMES.filter((name) => name.endsWith('train')).map((recipe) => {
      // The scripts of GraphGPO save no checkpoint.
      const warnings = recipe.startsWith('graphgpo') ? ['checkpoints'] : [];
      assert.deepEqual([...names('error', { recipe }), ...names('warning', { recipe })], warnings, recipe);
      const padding = check({ recipe }).find((finding) => finding.check === 'padding');
      return Number(/multiple of (\d+)/.exec(padding!.message)![1]);
    });
    assert.deepEqual(multiples, [32, 8, 32, 16, 64, 32, 64, 64]);
    for (const recipe of RECIPE_NAMES.filter((name) => name.endsWith('eval'))) {
      assert.deepEqual(names('error', { recipe, evaluation: { checkpoint } }), []);
    }
  });

  test('a recipe of GraphGPO says what else than the estimator differs, and when the penalty outweighs returns', () => {
    const recipe = 'graphgpo_qwen2.5_1.5b_alfworld_train';
    const of = (spec: Partial<VerlAgentSpec>) =>
      names('note', spec).filter((name) => name.startsWith('graphgpo'));
    assert.deepEqual(of({ recipe }), ['graphgpo-comparison', 'graphgpo-penalty']);
    assert.deepEqual(of({ recipe, estimator: { gamma: 0.5 } }), ['graphgpo-comparison']);
    assert.deepEqual(of({}), []);
  });

  test('a 7B recipe runs on two nodes of two GPUs, if a model copy fits on one node', () => {
    const two = { recipe: 'qwen2.5_7b_alfworld_train', resources: { nodes: 2, gpus: 2 } } as const;
    assert.deepEqual(names('error', { ...two, rollout: { tensorParallelSize: 2 } }), []);
    assert.deepEqual(names('error', two), ['tensor-parallel']);
  });

  const cases: [string, string, string, Partial<VerlAgentSpec>][] = [
    ['error', 'groups', '/rollout/groups', { resources: { nodes: 3 } }],
    ['error', 'gpus', '/resources/gpus', { resources: { gpus: 0 } }],
    ['error', 'tensor-parallel', '/rollout/tensorParallelSize', { rollout: { tensorParallelSize: 4 } }],
    ['error', 'groups', '/rollout/groups', { rollout: { groups: 15 } }],
    ['error', 'mini-batch', '/training/microBatchSizePerGpu', { training: { microBatchSizePerGpu: 24 } }],
    ['error', 'mini-batch', '/training/microBatchSizePerGpu', { training: { miniBatchSize: 1 } }],
    ['error', 'cpus', '/resources/cpus', { resources: { cpus: 28 } }],
    ['error', 'free-cache', '/rollout/freeCacheEngine', { rollout: { freeCacheEngine: true } }],
    ['error', 'batched-tokens', '/rollout/maxPromptTokens', { rollout: { maxPromptTokens: 8000 } }],
    ['warning', 'keep-checkpoints', '/training/keepCheckpoints', { training: { keepCheckpoints: 1 } }],
    [
      'error',
      'kl-in-reward',
      '/overrides/algorithm.use_kl_in_reward',
      { overrides: { 'algorithm.use_kl_in_reward': true } },
    ],
    ['error', 'temperature', '/rollout/temperature', { rollout: { temperature: 0 } }],
    [
      'error',
      'dynamic-sampling',
      '/rollout/dynamicSampling',
      { rollout: { groupSize: 1, dynamicSampling: true } },
    ],
    [
      'error',
      'evaluation-history',
      '/environment/historyLength',
      { recipe: 'qwen2.5_1.5b_alfworld_eval', evaluation: { checkpoint }, environment: { historyLength: 2 } },
    ],
    ['warning', 'degenerate-groups', '/rollout/groupSize', { rollout: { groupSize: 1 } }],
    ['warning', 'padding-impossible', '/rollout/groups', { rollout: { groups: 2, groupSize: 2 } }],
    ['warning', 'max-steps', '/environment/maxSteps', { environment: { maxSteps: 60 } }],
    [
      'warning',
      'history-length',
      '/environment/historyLength',
      { environment: { maxSteps: 3, historyLength: 3 } },
    ],
    ['warning', 'checkpoints', '/training/saveEvery', { training: { saveEvery: 0 } }],
    ['note', 'weight-type', '/estimator/weightType', { estimator: { weightType: 'length' } }],
    [
      'note',
      'token-gamma',
      '/estimator/tokenGamma',
      { estimator: { name: 'reinforce_plus_plus', baseline: true, tokenGamma: 1 } },
    ],
    ['note', 'tracker', '/training/logger', { training: { logger: ['console', 'wandb'] } }],
    ['note', 'webshop-goals', '/recipe', { recipe: 'qwen2.5_1.5b_webshop_train' }],
    [
      'note',
      'evaluation-cluster',
      '/cluster',
      { recipe: 'qwen2.5_1.5b_webshop_eval', evaluation: { checkpoint } },
    ],
    [
      'note',
      'world-size',
      '/resources/gpus',
      { recipe: 'qwen2.5_1.5b_webshop_eval', evaluation: { checkpoint } },
    ],
  ];
  for (const [severity, name, field, spec] of cases) {
    test(`the check ${name} fires for ${JSON.stringify(spec)}`, () => {
      const finding = check(spec).find((one) => one.check === name);
      assert.deepEqual([finding?.severity, finding?.field], [severity, field]);
      for (const sentence of [finding!.message, finding!.remedy]) assert.match(sentence, /^\w.* .*\.$/);
    });
  }

  test('an evaluation that names its cluster has no note about it', () => {
    const recipe = 'qwen2.5_1.5b_webshop_eval';
    const found = check({ recipe, evaluation: { checkpoint }, cluster: 'fleet' });
    assert.ok(!found.some((one) => one.check === 'evaluation-cluster'));
  });

  test('an evaluation of the base model has no finding about pieces of a checkpoint', () => {
    const found = check({ recipe: 'qwen2.5_1.5b_webshop_eval', evaluation: { baseModel: true } });
    assert.ok(!found.some((one) => ['world-size', 'evaluation-cluster'].includes(one.check)));
  });

  test('the checks of a harmless spec return only notes of padding and disk space', () => {
    assert.deepEqual(
      check({ training: { logger: ['console'] } }).map((one) => one.check),
      ['padding', 'disk'],
    );
    assert.ok(!names('note').includes('weight-type'));
  });

  test('a raised token limit, another engine and eager generation are no findings', () => {
    const limit = { 'actor_rollout_ref.rollout.max_num_batched_tokens': 9000 };
    assert.deepEqual(names('error', { rollout: { maxPromptTokens: 8000 }, overrides: limit }), []);
    assert.deepEqual(names('error', { rollout: { maxPromptTokens: 8000, engine: 'sglang' } }), []);
    assert.deepEqual(names('error', { rollout: { freeCacheEngine: true, enforceEager: true } }), []);
    assert.deepEqual(names('error', { estimator: { name: 'ppo' } }), []);
  });

  test('the findings of the checks start with the errors', () => {
    const order = check({ resources: { cpus: 1 }, training: { saveEvery: 0 } }).map(
      ({ severity }) => severity,
    );
    assert.deepEqual(order.slice(0, 2), ['error', 'warning']);
  });

  test('a spec with a failed check is refused with the remedy', () => {
    assert.throws(
      () => resolveSpec({ ...TRAIN, rollout: { groups: 15 } }),
      (error: { problems: { field: string; message: string }[] }) =>
        error.problems[0]?.field === '/rollout/groups' && /multiple of 2/.test(error.problems[0].message),
    );
    assert.equal(
      resolveSpec({
        ...TRAIN,
        estimator: { name: 'ppo' },
        resources: { gpus: 1 },
        rollout: { tensorParallelSize: 1 },
      }).spec.engine,
      'verl-agent',
    );
  });
});
