import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { validateSpec } from '../../../../src/engines/validate-spec.ts';
import {
  compileVerlAgent,
  faithfulOverrides,
  launchOf,
  PROGRAM,
} from '../../../../src/engines/verl-agent/compile.ts';
import { MERGED_CONFIG } from '../../../../src/engines/verl-agent/merged-config.ts';
import { verlAgentPresets } from '../../../../src/engines/verl-agent/presets.ts';
import { recipeOf } from '../../../../src/engines/verl-agent/recipes.ts';
import { resolveVerlAgent } from '../../../../src/engines/verl-agent/resolve.ts';
import type { ResolvedVerlAgent, VerlAgentSpec } from '../../../../src/engines/verl-agent/spec.ts';
import { compilePlan } from '../../../../src/plan/compile-plan.ts';
import { resolveSpec } from '../../../../src/plan/resolve-spec.ts';

const TRAIN: VerlAgentSpec = { engine: 'verl-agent', name: 'x', recipe: 'qwen2.5_1.5b_alfworld_train' };
const compile = (spec: Partial<VerlAgentSpec> = {}) => {
  const full = resolveSpec({ ...TRAIN, ...spec } as VerlAgentSpec).spec;
  assert.equal(full.engine, 'verl-agent');
  return compileVerlAgent(full);
};
const has = (overrides: string[], ...wanted: string[]) => {
  for (const one of wanted) assert.ok(overrides.includes(one), `${one} is not in ${overrides.join('\n')}`);
};
const reasonOf = (plan: ReturnType<typeof compile>, key: string) =>
  plan.corrections.find((one) => one.key === key)?.reason;

describe('compileVerlAgent', () => {
  test('a plan passes the overrides of its script in order, except the named corrections and changes', () => {
    const plan = compile();
    const differing = new Set([...plan.corrections, ...plan.changes].map(({ key }) => key));
    const kept = faithfulOverrides(recipeOf(TRAIN.recipe)).filter(
      (one) => !differing.has(one.split('=')[0]!),
    );
    assert.deepEqual(
      plan.overrides.filter((one) => !differing.has(one.split('=')[0]!)),
      kept,
    );
    assert.equal(kept.length, 53);
    assert.deepEqual(plan.changes, []);
    for (const { reason } of plan.corrections) assert.ok(reason.length > 20);
  });

  test('a plan has data and a capture hook for each attempt, and passes its environment through Ray', () => {
    const plan = compile();
    has(
      plan.overrides,
      "data.train_files='{attemptDir}/data/train.parquet'",
      "data.val_files='{attemptDir}/data/test.parquet'",
      "data.custom_cls.path='{attemptDir}/hook/echelon_rayworker/engines/verl_agent/capture_dataset.py'",
      'data.custom_cls.name=CaptureDataset',
      '+ray_init.runtime_env.env_vars.VLLM_ATTENTION_BACKEND=XFORMERS',
    );
    assert.deepEqual(plan.environment, { VLLM_ATTENTION_BACKEND: 'XFORMERS' });
    assert.deepEqual(plan.dataRows, { train: 16, validation: 128 });
    assert.deepEqual(compile({ rollout: { attentionBackend: 'auto' } }).environment, {});
    assert.match(reasonOf(plan, 'environment.WANDB_API_KEY')!, /never printed/);
    assert.match(reasonOf(plan, 'engine.steps')!, /one step more/);
  });

  test('logs to the console by default, and to a tracker if the spec names one', () => {
    const plan = compile();
    has(plan.overrides, 'trainer.logger=[console]');
    assert.match(reasonOf(plan, 'trainer.logger')!, /without a key/);
    const tracked = compile({ training: { logger: ['console', 'wandb'] } });
    has(tracked.overrides, 'trainer.logger=[console,wandb]');
    assert.equal(reasonOf(tracked, 'trainer.logger'), undefined);
    has(faithfulOverrides(recipeOf(TRAIN.recipe)), 'trainer.logger=[console,wandb]');
  });

  test('different specs have different checkpoint directories, and a longer run has the same', () => {
    const directory = (spec: Partial<VerlAgentSpec>) => compile(spec).checkpointDirectory;
    assert.match(
      directory({}),
      /^qwen2\.5_1\.5b_alfworld_train\/k2_hgpo_mean_std_norm_alpha1_seed0-[0-9a-f]{10}$/,
    );
    for (const same of [
      { training: { steps: 320, saveEvery: 10, logger: ['console'] as ['console'] } },
      { name: 'another', priority: 3, resources: { cpus: 40 } },
    ]) {
      assert.equal(directory(same), directory({}));
    }
    const others: Partial<VerlAgentSpec>[] = [
      { estimator: { mode: 'mean_norm' } },
      { estimator: { gamma: 0.9 } },
      { training: { learningRate: 2e-6 } },
      { environment: { seed: 1 } },
      { rollout: { groupSize: 4 } },
      { rollout: { attentionBackend: 'auto' } },
      { overrides: { '+data.seed': 2 } },
      { checkpoints: { label: 'second' } },
    ];
    assert.equal(new Set([{}, ...others].map(directory)).size, others.length + 1);
    assert.match(directory({ checkpoints: { label: 'second' } }), /-second$/);
  });

  test('a plan for another estimator uses the same trainer without hgpo settings', () => {
    const plan = compile({ estimator: { name: 'gigpo' } });
    assert.equal(plan.program, PROGRAM);
    has(plan.overrides, 'algorithm.adv_estimator=gigpo', 'algorithm.gigpo.mode=mean_std_norm');
    assert.ok(!plan.overrides.some((one) => one.startsWith('algorithm.hgpo.')));
    assert.match(reasonOf(plan, 'program')!, /before the statistics/);
  });

  test('a plan has the DAPO settings, with grpo and with hgpo', () => {
    const dapo = {
      rollout: { dynamicSampling: true },
      training: { clipRatioHigh: 0.28, lossAggregation: 'token-mean' as const },
    };
    for (const name of ['grpo', 'hgpo'] as const) {
      const plan = compile({ ...dapo, estimator: { name } });
      has(
        plan.overrides,
        `algorithm.adv_estimator=${name}`,
        'algorithm.filter_groups.enable=True',
        'algorithm.filter_groups.max_num_gen_batches=10',
        'actor_rollout_ref.actor.clip_ratio_high=0.28',
      );
    }
  });

  test('a plan for ppo has a critic, on as many GPUs as the recipe', () => {
    const plan = compile({ estimator: { name: 'ppo' } });
    has(
      plan.overrides,
      'algorithm.adv_estimator=gae',
      'algorithm.gamma=1',
      'critic.model.path=Qwen/Qwen2.5-1.5B-Instruct',
      'critic.ppo_micro_batch_size_per_gpu=16',
      'trainer.n_gpus_per_node=2',
    );
  });

  test('a plan for an evaluation uses the named checkpoint, the trainer that knows hgpo, and the named split', () => {
    const directory = 'qwen2.5_1.5b_alfworld_train/k4_hgpo-0123456789';
    const evaluate = (evaluation: object) =>
      compile({
        recipe: 'qwen2.5_1.5b_alfworld_eval',
        evaluation: { checkpoint: { directory }, ...evaluation },
      });
    const unseen = evaluate({ split: 'unseen' });
    assert.equal(unseen.program, PROGRAM);
    has(
      unseen.overrides,
      'trainer.val_out=True',
      'trainer.val_only=True',
      'trainer.val_before_train=True',
      'env.history_length=4',
      'env.seed=123',
      `trainer.default_local_dir='{sharedRoot}/checkpoints/${directory}'`,
      'trainer.experiment_name=k4_hgpo-0123456789_seed123_unseen',
    );
    has(evaluate({ split: 'seen' }).overrides, 'trainer.val_out=False');
    assert.match(reasonOf(unseen, 'evaluation.split')!, /out-of-domain/);
    assert.match(reasonOf(unseen, 'program')!, /does not know hgpo/);
    assert.equal(unseen.steps, 0);
    has(
      evaluate({ checkpoint: { directory, step: 80 } }).overrides,
      'trainer.resume_mode=resume_path',
      `trainer.resume_from_path='{sharedRoot}/checkpoints/${directory}/global_step_80'`,
    );
  });

  test('a plan for the base model looks for no checkpoint, and resumes nothing', () => {
    const spec = (evaluation: NonNullable<VerlAgentSpec['evaluation']>): ResolvedVerlAgent =>
      resolveVerlAgent({ ...TRAIN, recipe: 'qwen2.5_1.5b_alfworld_eval', evaluation });
    const base = spec({ baseModel: true });
    const plan = compileVerlAgent(base);
    has(plan.overrides, 'trainer.resume_mode=disable', 'trainer.val_only=True');
    assert.match(plan.checkpointDirectory, /^qwen2\.5_1\.5b_alfworld_eval\/base_k2_seed123_unseen-\w{10}$/);
    assert.match(reasonOf(plan, 'trainer.resume_mode')!, /base model/);
    assert.equal(base.evaluation.baseModel, true);
    assert.equal(spec({ checkpoint: { directory: 'a/k2_b' } }).evaluation.baseModel, undefined);
  });

  test('the plan of every preset sets only keys of the configuration, each once', () => {
    const ours = /^(hydra\.run\.dir|\+ray_init\.runtime_env\.env_vars\.[A-Z_]+)$/;
    let plans = 0;
    for (const spec of verlAgentPresets().flatMap(({ runs }) =>
      runs.flatMap((run) => [run.train, ...run.evaluations]),
    )) {
      const keys = compile(spec).overrides.map((one) => one.slice(0, one.indexOf('=')));
      assert.equal(new Set(keys).size, keys.length);
      for (const key of keys) assert.ok(MERGED_CONFIG.has(key) || ours.test(key), key);
      plans += 1;
    }
    assert.ok(plans > 100);
  });

  test('a plan contains no secret and no name of an experiment', () => {
    const text = JSON.stringify(compilePlan(resolveSpec({ ...TRAIN, name: 'a label; rm -rf /' }).spec));
    assert.ok(!text.includes('rm -rf') && !/WANDB_API_KEY/.test(text));
  });
});

test('a script that retains one checkpoint is corrected to two, and another number of a spec is a change', () => {
  const key = 'trainer.max_actor_ckpt_to_keep';
  const recipe = 'qwen2.5_7b_webshop_train';
  assert.match(reasonOf(compile({ recipe }), key)!, /deleted before/);
  has(compile({ recipe }).overrides, `${key}=2`);
  const three = compile({ recipe, training: { keepCheckpoints: 3 } });
  assert.deepEqual(
    three.changes.map(({ key: changed, to }) => [changed, to]),
    [[key, '3']],
  );
});

test('the driver gets the overrides as arguments, and what it needs of the plan in its file', () => {
  const spec = resolveVerlAgent({ ...TRAIN, home: '/opt/verl-agent' });
  const { overrides } = compileVerlAgent(spec);
  const { arguments: passedOn, plan } = launchOf(spec);
  assert.deepEqual(plan, {
    program: PROGRAM,
    phase: 'train',
    dataRows: { train: 16, validation: 128 },
    steps: 160,
    diskBytes: 77_200_000_000,
  });
  assert.deepEqual(passedOn, overrides);
  const launch = compilePlan(spec);
  assert.equal(launch.module, 'echelon_rayworker.engines.verl_agent');
  assert.deepEqual([launch.engine, launch.gpus, launch.cpus], ['verl-agent', 2, 28.6]);
});

test('no text of a spec adds an override or a reference to a plan', () => {
  const unit = fc.constantFrom(...'aZ9/._- \'"\\=,{$}[]():+~\n');
  const text = fc.string({ unit, minLength: 1, maxLength: 10 });
  const plain = compile();
  const count = plain.overrides.length;
  let accepted = 0;
  fc.assert(
    fc.property(text, fc.constantFrom('path', 'target', 'label', 'key', 'name'), (value, place) => {
      const overrides = {
        'actor_rollout_ref.model.target_modules': place === 'target' ? value : 'all-linear',
      };
      const spec = {
        ...TRAIN,
        name: place === 'name' ? value : 'x',
        ...(place === 'path' ? { model: { path: value } } : {}),
        ...(place === 'label' ? { checkpoints: { label: value } } : {}),
        overrides: place === 'key' ? { [value]: true } : overrides,
      };
      let plan: ReturnType<typeof compile>;
      try {
        plan = compile(validateSpec(spec) as VerlAgentSpec);
      } catch (error) {
        assert.equal((error as { code: string }).code, 'invalid-spec');
        return;
      }
      accepted += 1;
      const set = plan.overrides
        .map((one) => one.split('=')[0]!)
        .filter((key) => !/target_modules$/.test(key));
      assert.deepEqual(
        set,
        plain.overrides.map((one) => one.split('=')[0]!),
      );
      assert.equal(set.length, count);
      for (const one of plan.overrides) assert.ok(!one.includes('${') && !one.includes('\n'), one);
    }),
    { numRuns: 1500 },
  );
  assert.ok(accepted > 50, String(accepted));
});
