import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  EVALUATION_SEEDS,
  historyLengthOf,
  resolveVerlAgent,
  verlAgentContradictions,
} from '../../../../src/engines/verl-agent/resolve.ts';
import { RECIPE_NAMES, type VerlAgentSpec } from '../../../../src/engines/verl-agent/spec.ts';
import { resolveSpec } from '../../../../src/plan/resolve-spec.ts';

const TRAIN: VerlAgentSpec = { engine: 'verl-agent', name: 'x', recipe: 'qwen2.5_1.5b_alfworld_train' };
const checkpoint = { directory: 'qwen2.5_1.5b_alfworld_train/k4_hgpo-0123456789' };
const EVAL: VerlAgentSpec = { ...TRAIN, recipe: 'qwen2.5_1.5b_alfworld_eval', evaluation: { checkpoint } };
const fields = (spec: VerlAgentSpec) => verlAgentContradictions(spec).map(({ field }) => field);

describe('resolveVerlAgent', () => {
  test('resolveVerlAgent takes settings from the recipe, else from the configuration', () => {
    const spec = resolveVerlAgent(TRAIN);
    assert.deepEqual(spec.environment, { seed: 0, maxSteps: 50, historyLength: 2, cpusPerActor: 0.1 });
    assert.equal(spec.training.steps, 160);
    assert.equal(spec.training.entropyCoefficient, 0.001);
    assert.deepEqual(spec.training.logger, ['console']);
    assert.equal(spec.evaluation.split, 'seen');
    assert.equal(spec.estimator.mode, 'mean_std_norm');
    assert.deepEqual(spec.resources, { nodes: 1, gpus: 2, cpus: 28.6, nodeLabels: {} });
  });

  test('a resolved recipe has no undefined setting except the optional ones', () => {
    for (const recipe of RECIPE_NAMES) {
      const evaluation = recipe.endsWith('eval') ? { evaluation: { checkpoint } } : {};
      const { spec, defaults } = resolveSpec({ ...TRAIN, recipe, ...evaluation });
      const open = defaults.filter((pointer) => {
        const value = pointer
          .slice(1)
          .split('/')
          .reduce<unknown>((node, key) => (node as never)[key], spec);
        return value === null || value === undefined;
      });
      assert.deepEqual(
        open,
        ['/cluster', '/timeoutSeconds', '/deadline', '/checkpointStore', '/home', '/checkpoints/label'],
        recipe,
      );
    }
  });

  test('an evaluation takes K from its checkpoint, the first seed, and the split of its script', () => {
    const spec = resolveVerlAgent(EVAL);
    assert.equal(spec.environment.historyLength, 4);
    assert.equal(spec.environment.seed, EVALUATION_SEEDS[0]);
    assert.equal(spec.evaluation.split, 'unseen');
    assert.equal(spec.evaluation.rounds, 4);
    assert.equal(historyLengthOf({ evaluation: { checkpoint: { directory: 'a/run_k2_task3' } } }), undefined);
  });

  test('resolveVerlAgent does not change its argument', () => {
    const before = structuredClone(TRAIN);
    resolveVerlAgent(TRAIN).training.logger.push('mlflow');
    assert.deepEqual(TRAIN, before);
    assert.deepEqual(resolveVerlAgent(TRAIN).training.logger, ['console']);
  });

  test('dynamic sampling sets a maximum number of generation batches', () => {
    assert.equal(resolveVerlAgent(TRAIN).rollout.maxGenerationBatches, undefined);
    const dynamic = resolveVerlAgent({ ...TRAIN, rollout: { dynamicSampling: true } });
    assert.equal(dynamic.rollout.maxGenerationBatches, 10);
  });
});

describe('contradictions', () => {
  test('a field without effect is a contradiction', () => {
    assert.deepEqual(fields(TRAIN), []);
    assert.deepEqual(fields({ ...TRAIN, critic: {} }), ['/critic']);
    assert.deepEqual(fields({ ...TRAIN, rollout: { maxGenerationBatches: 3 } }), [
      '/rollout/maxGenerationBatches',
    ]);
    assert.deepEqual(fields({ ...TRAIN, evaluation: { checkpoint } }), ['/evaluation/checkpoint']);
    assert.deepEqual(
      fields({ ...TRAIN, recipe: 'qwen2.5_7b_webshop_train', evaluation: { split: 'seen' } }),
      ['/evaluation/split'],
    );
    assert.deepEqual(fields({ ...EVAL, estimator: { name: 'grpo' }, training: { steps: 3 } }), [
      '/estimator',
      '/training/steps',
    ]);
  });

  test('an evaluation without a checkpoint is a contradiction', () => {
    assert.deepEqual(fields({ ...TRAIN, recipe: 'qwen2.5_7b_webshop_eval' }), ['/evaluation/checkpoint']);
  });

  test('an evaluation of the base model needs no checkpoint, and with a checkpoint it is a contradiction', () => {
    const BASE: VerlAgentSpec = { ...EVAL, evaluation: { baseModel: true } };
    assert.deepEqual(fields(BASE), []);
    assert.equal(resolveVerlAgent(BASE).evaluation.baseModel, true);
    assert.deepEqual(fields({ ...EVAL, evaluation: { checkpoint, baseModel: true } }), [
      '/evaluation/baseModel',
    ]);
    assert.deepEqual(fields({ ...EVAL, evaluation: { baseModel: false } }), ['/evaluation/checkpoint']);
    assert.deepEqual(fields({ ...EVAL, evaluation: { checkpoint, baseModel: false } }), []);
    assert.deepEqual(fields({ ...TRAIN, evaluation: { baseModel: true } }), ['/evaluation/baseModel']);
  });

  test("custom code needs both allowCustomCode and the caller's permission", () => {
    const spec: VerlAgentSpec = {
      ...TRAIN,
      allowCustomCode: true,
      overrides: { 'actor_rollout_ref.model.trust_remote_code': true },
    };
    assert.throws(() => resolveSpec(spec), { code: 'invalid-spec' });
    assert.equal((resolveSpec(spec, { customCode: true }).spec as VerlAgentSpec).allowCustomCode, true);
    const { allowCustomCode: _flag, ...unmarked } = spec;
    assert.throws(() => resolveSpec(unmarked as VerlAgentSpec, { customCode: true }), {
      code: 'invalid-spec',
    });
  });
});
