import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import type { ExperimentSpec } from '../../../src/engines/registry.ts';
import { REPLAY_FAULTS } from '../../../src/engines/replay/spec.ts';
import { compilePlan } from '../../../src/plan/compile-plan.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';

// Feeds compiled plans to the engines' own parser, and holds the plan's defaults against the engines' own.

const PYTHON = process.env.ECHELON_PYTHON ?? '.venv/bin/python';
const SCRIPT = `
import json, sys
from echelon_rayworker.engines.arguments import ArgumentError, parse
from echelon_rayworker.engines.local.settings import KEYS as LOCAL
from echelon_rayworker.engines.prompt.settings import KEYS as PROMPT
from echelon_rayworker.engines.replay.__main__ import KEYS as REPLAY
from echelon_rayworker.engines.replay.faults import FAULTS
keys = {"local": LOCAL, "prompt": PROMPT, "replay": REPLAY}
def read(engine, arguments):
    try:
        return {"values": parse(arguments, keys[engine])}
    except ArgumentError as error:
        return {"error": str(error)}
print(json.dumps({
    "read": [read(*one) for one in json.load(sys.stdin)],
    "defaults": {engine: {key: rule.default for key, rule in rules.items()} for engine, rules in keys.items()},
    "faults": list(FAULTS),
}))`;

type Values = Record<string, string | number | boolean>;
interface Answer {
  read: { values?: Values; error?: string }[];
  defaults: Record<'local' | 'prompt' | 'replay', Values>;
  faults: string[];
}

function ask(specs: readonly ExperimentSpec[], extra: [string, string[]][] = []): Answer {
  const plans = specs.map((spec) => compilePlan(resolveSpec(spec, { customCode: true }).spec));
  const input = JSON.stringify([...plans.map((plan) => [plan.engine, plan.arguments]), ...extra]);
  const env = { ...process.env, PYTHONPATH: 'deploy/ray-worker' };
  return JSON.parse(execFileSync(PYTHON, ['-c', SCRIPT], { input, env, encoding: 'utf8' }));
}

const ESTIMATORS = ['hgpo', 'gigpo', 'grpo'] as const;

/** A spec of the local engine in which no value is a default. */
const CHANGED: ExperimentSpec = {
  engine: 'local',
  name: 'x',
  estimator: {
    name: 'hgpo',
    historyLength: 3,
    mode: 'mean_norm',
    lengthWeightAlpha: 0.5,
    baseGroup: true,
    gamma: 1,
    invalidActionPenalty: 0,
  },
  observations: 'texts',
  environment: { seed: 2147483647, maxSteps: 200, historyLength: 8 },
  rollout: { groups: 1, groupSize: 256 },
  training: {
    steps: 3,
    learningRate: 1e-7,
    epochs: 1,
    clipRatio: 0.3,
    klCoefficient: 0,
    seed: 0,
    saveEvery: 100000,
    evaluateEvery: 1,
    stepDelaySeconds: 0.0015,
  },
  evaluation: { games: 10000 },
};

/** A spec of the prompt engine in which no value is a default. */
const PROMPTED: ExperimentSpec = {
  engine: 'prompt',
  name: 'x',
  secrets: { OPENAI_API_KEY: 'openai' },
  model: {
    baseUrl: 'https://api.openai.com/v1',
    name: 'gpt-4o',
    apiKey: 'OPENAI_API_KEY',
    temperature: 0,
    maxTokens: 1e6,
    price: { input: 2.5, output: 1e-7 },
  },
  method: { name: 'reflexion', trials: 20 },
  environment: { name: 'local', seed: 7, maxSteps: 1000, historyLength: 64 },
  evaluation: { games: 4096, rounds: 100, split: 'training' },
  limits: { concurrency: 1024, requestsPerMinute: 60, tokensPerMinute: 1e9, budget: 0.01 },
};

describe("the engines' own parser", () => {
  test('takes every argument of a plan with the value of the spec', () => {
    const { read } = ask([CHANGED]);
    assert.deepEqual(read[0]?.error, undefined);
    assert.deepEqual(read[0]?.values, {
      'estimator.name': 'hgpo',
      'estimator.history_length': 3,
      'estimator.mode': 'mean_norm',
      'estimator.length_weight_alpha': 0.5,
      'estimator.base_group': true,
      'estimator.step_advantage_weight': 1,
      'estimator.normalize_by_std': true,
      'estimator.gamma': 1,
      'estimator.invalid_action_penalty': 0,
      'environment.seed': 2147483647,
      'environment.max_steps': 200,
      'environment.history_length': 8,
      'rollout.groups': 1,
      'rollout.group_size': 256,
      'rollout.actors': 2,
      'training.steps': 3,
      'training.learning_rate': 1e-7,
      'training.epochs': 1,
      'training.clip_ratio': 0.3,
      'training.kl_coefficient': 0,
      'training.seed': 0,
      'training.evaluate_every': 1,
      'training.save_every': 100000,
      'evaluation.games': 10000,
      observations: 'texts',
      experiment_dir: '{experimentDir}',
      step_delay_ms: 2,
    });
  });

  test('takes every argument of a plan for a prompted model', () => {
    const { read } = ask([PROMPTED]);
    assert.deepEqual(read[0], {
      values: {
        'environment.name': 'local',
        'environment.seed': 7,
        'environment.max_steps': 1000,
        'environment.history_length': 64,
        'evaluation.games': 4096,
        'evaluation.rounds': 100,
        'evaluation.split': 'training',
        'method.name': 'reflexion',
        'method.trials': 20,
        'model.api_key': 'OPENAI_API_KEY',
        'model.temperature': 0,
        'model.max_tokens': 1000000,
        'model.input_price': 2.5,
        'model.output_price': 1e-7,
        'limits.concurrency': 1024,
        'limits.requests_per_minute': 60,
        'limits.tokens_per_minute': 1000000000,
        'limits.budget': 0.01,
        experiment_dir: '{experimentDir}',
        'model.base_url': 'https://api.openai.com/v1',
        'model.name': 'gpt-4o',
      },
    });
  });

  test('takes every estimator and every fault', () => {
    const specs: ExperimentSpec[] = [
      ...ESTIMATORS.map((name): ExperimentSpec => ({ engine: 'local', name: 'x', estimator: { name } })),
      ...REPLAY_FAULTS.map(
        (fault): ExperimentSpec => ({ engine: 'replay', name: 'x', replay: { fault, hang: true } }),
      ),
    ];
    const { read, faults } = ask(specs, [['local', ['estimatr.name=hgpo']]]);
    assert.match(read.pop()?.error ?? '', /unknown key/);
    assert.deepEqual(
      read.map(({ error }) => error),
      specs.map(() => undefined),
    );
    assert.deepEqual(faults, [...REPLAY_FAULTS]);
  });

  test('agrees with the defaults of the plan', () => {
    const { read, defaults } = ask([
      { engine: 'local', name: 'x', estimator: { name: 'hgpo' } },
      { engine: 'replay', name: 'x' },
      { engine: 'prompt', name: 'x', model: { baseUrl: 'http://h', name: 'm' } },
    ]);
    // The engine's -1 means what the plan writes out: as the environment has it.
    const local = {
      ...defaults.local,
      'estimator.history_length': defaults.local['environment.history_length'],
    };
    assert.deepEqual(read[0]?.values, { ...local, experiment_dir: '{experimentDir}' });
    assert.deepEqual(read[1]?.values, defaults.replay);
    const given = { 'model.base_url': 'http://h', 'model.name': 'm', experiment_dir: '{experimentDir}' };
    assert.deepEqual(read[2]?.values, { ...defaults.prompt, ...given });
  });
});
