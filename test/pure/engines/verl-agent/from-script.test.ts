import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { compileVerlAgent } from '../../../../src/engines/verl-agent/compile.ts';
import { specOfCommand } from '../../../../src/engines/verl-agent/from-script.ts';
import { resolveVerlAgent } from '../../../../src/engines/verl-agent/resolve.ts';

interface Script {
  script: string;
  phase: string;
  entrypointAsWritten: string;
  overrides: Record<string, string>;
}
const scripts = ['hgpo', 'graphgpo'].flatMap(
  (name) =>
    JSON.parse(
      readFileSync(new URL(`../../../golden/recipes/${name}-recipes.json`, import.meta.url), 'utf8'),
    ) as Script[],
);
const trainings = scripts.filter(({ phase }) => phase === 'train');

/** The command line of a script, with further settings that win. */
function commandOf({ entrypointAsWritten, overrides }: Script, more: Record<string, string> = {}): string[] {
  const all = { ...overrides, ...more };
  return ['-m', entrypointAsWritten, ...Object.entries(all).map(([key, value]) => `${key}=${value}`)];
}

/** What the spec's own plan passes, by key. */
function planned(words: string[]): Map<string, string> {
  const { spec } = specOfCommand(words)!;
  const { overrides } = compileVerlAgent(resolveVerlAgent(spec));
  return new Map(overrides.map((one) => one.split(/=(.*)/s).slice(0, 2) as [string, string]));
}

test('each training script of the recipes gives its own recipe, and nothing but it', () => {
  assert.equal(trainings.length, 8);
  for (const one of trainings) {
    const { spec, missing } = specOfCommand(commandOf(one))!;
    const { name, engine, recipe, estimator, ...fields } = spec;
    assert.ok(
      one.script.toLowerCase().includes(recipe.replace('graphgpo_', '')),
      `${one.script} → ${recipe}`,
    );
    assert.deepEqual([fields, missing], [{}, []], one.script);
    assert.ok(name && engine && estimator);
  }
});

test('every setting that a script changes is passed by the plan of its spec', () => {
  const changes = {
    'actor_rollout_ref.model.path': 'Qwen/Qwen3-4B',
    'actor_rollout_ref.actor.optim.lr': '3e-6',
    'actor_rollout_ref.actor.kl_loss_coef': '0.02',
    'actor_rollout_ref.actor.grad_clip': '0.5',
    'actor_rollout_ref.rollout.gpu_memory_utilization': '0.3',
    'algorithm.hgpo.length_weight_alpha': '2.0',
    'algorithm.gamma': '0.9',
    'env.history_length': '4',
    'env.rollout.n': '16',
    'trainer.n_gpus_per_node': '8',
    'trainer.save_freq': '40',
    'trainer.total_epochs': '160',
  };
  const plan = planned(commandOf(trainings[0]!, changes));
  for (const [key, text] of Object.entries(changes))
    assert.equal(Number(plan.get(key)) || plan.get(key), Number(text) || text, key);
});

test('a script of another estimator of the same trainer is compared on equal terms', () => {
  const words = commandOf(trainings[0]!, {
    'algorithm.adv_estimator': 'gigpo',
    'algorithm.gigpo.mode': 'mean_norm',
    'algorithm.gigpo.step_advantage_w': '0.5',
  });
  const { spec } = specOfCommand(words)!;
  assert.deepEqual(spec.estimator, {
    name: 'gigpo',
    mode: 'mean_norm',
    stepAdvantageWeight: 0.5,
    gamma: 0.95,
    invalidActionPenalty: 0.1,
  });
});

test('what a spec cannot say is omitted with the reason', () => {
  const words = commandOf(trainings[0]!, {
    'trainer.default_local_dir': '/data/mine',
    'ray_init.num_cpus': '64',
    'actor_rollout_ref.rollout.no_such': '1',
  });
  const why = new Map(specOfCommand(words)!.missing.map((one) => [one.key, one.why]));
  assert.match(why.get('trainer.default_local_dir')!, /keeps the runs apart/);
  assert.match(why.get('ray_init.num_cpus')!, /connection with Ray/);
  assert.match(why.get('actor_rollout_ref.rollout.no_such')!, /not a key/);
});

test('a script that the recipes do not cover says why', () => {
  assert.equal(specOfCommand(['-m', 'examples.data_preprocess.prepare', '--mode', 'text']), undefined);
  const sokoban = commandOf(trainings[0]!, { 'env.env_name': 'Sokoban' });
  assert.throws(() => specOfCommand(sokoban), /no recipe has the environment sokoban; the engine `command`/);
  const remax = commandOf(trainings[0]!, { 'algorithm.adv_estimator': 'remax' });
  assert.throws(() => specOfCommand(remax), /no recipe runs the estimator remax/);
});
