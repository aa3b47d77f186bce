import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { LocalSpec } from '../../../src/engines/local/spec.ts';
import type { ExperimentSpec } from '../../../src/engines/registry.ts';
import { REPLAY_FAULTS } from '../../../src/engines/replay/engine.ts';
import { compilePlan } from '../../../src/plan/compile-plan.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';
import { RESOLVED_EXAMPLES, resolvedExamples } from '../../support/resolved-examples.ts';

// Gives the spec's file of a plan to the engines' own reader.

const PYTHON = process.env.ECHELON_PYTHON ?? '.venv/bin/python';
const SCRIPT = `
import json, sys, tempfile
from dataclasses import asdict
from pathlib import Path
from echelon_rayworker.engines.spec import read_launch
from echelon_rayworker.engines.local.learner import FAULTS as PLANTED
from echelon_rayworker.engines.local.settings import settings_of as local
from echelon_rayworker.engines.prompt.settings import settings_of as prompt
from echelon_rayworker.engines.replay.faults import FAULTS
def read(content):
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "spec.json").write_text(content)
        launch = read_launch([f"attempt_dir={directory}", "experiment_dir=/e", "shared_root=/s"])
    engine = launch.spec["engine"]
    return asdict(local(launch.spec, "/e") if engine == "local" else prompt(launch, {}))
print(json.dumps({"read": [read(one) for one in json.load(sys.stdin)], "faults": [*FAULTS], "planted": [*PLANTED]}))`;

function ask(...specs: ExperimentSpec[]): { read: object[]; faults: string[]; planted: string[] } {
  const plans = specs.map((spec) => compilePlan(resolveSpec(spec, { customCode: true }).spec));
  const input = JSON.stringify(plans.map(({ files }) => files['spec.json']));
  const env = { ...process.env, PYTHONPATH: 'deploy/ray-worker:deploy/capture' };
  return JSON.parse(execFileSync(PYTHON, ['-c', SCRIPT], { input, env, encoding: 'utf8' }));
}

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
    captureEvery: 1,
    fault: 'kl-without-gradient',
  },
  evaluation: { games: 10000, replicates: 100 },
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

test('the local engine reads every value of a spec', () => {
  const estimator = {
    name: 'hgpo',
    history_length: 3,
    mode: 'mean_norm',
    length_weight_alpha: 0.5,
    base_group: true,
    step_advantage_weight: 1,
    normalize_by_std: true,
    gamma: 1,
    invalid_action_penalty: 0,
  };
  assert.deepEqual(ask(CHANGED).read[0], {
    estimator,
    rollout: {
      environment_seed: 2147483647,
      training_seed: 0,
      max_steps: 200,
      history_length: 8,
      group_size: 256,
    },
    training: {
      steps: 3,
      learning_rate: 1e-7,
      epochs: 1,
      clip_ratio: 0.3,
      kl_coefficient: 0,
      save_every: 100000,
      evaluate_every: 1,
      step_delay_seconds: 0.0015,
      capture_every: 1,
      fault: 'kl-without-gradient',
    },
    groups: 1,
    evaluation_games: 10000,
    replicates: 100,
    texts: true,
    experiment_dir: '/e',
    // Their names are in the checkpoints.
    curve: {
      ...Object.fromEntries(Object.entries(estimator).map(([key, value]) => [`estimator.${key}`, value])),
      'environment.seed': 2147483647,
      'environment.max_steps': 200,
      'environment.history_length': 8,
      'rollout.groups': 1,
      'rollout.group_size': 256,
      'training.learning_rate': 1e-7,
      'training.epochs': 1,
      'training.clip_ratio': 0.3,
      'training.kl_coefficient': 0,
      'training.seed': 0,
      'training.fault': 'kl-without-gradient',
    },
  });
});

test('the prompt engine reads every value of a spec, and an absent limit as none', () => {
  const { read } = ask(PROMPTED, { engine: 'prompt', name: 'x', model: { baseUrl: 'http://h', name: 'm' } });
  assert.deepEqual(read[0], {
    method: 'reflexion',
    played: {
      seed: 7,
      max_steps: 1000,
      history_length: 64,
      games: 4096,
      rounds: 100,
      trials: 20,
      split: 'training',
    },
    model: {
      base_url: 'https://api.openai.com/v1',
      name: 'gpt-4o',
      api_key: 'OPENAI_API_KEY',
      temperature: 0,
      max_tokens: 1000000,
      price: { input: 2.5, output: 1e-7 },
    },
    limits: {
      concurrency: 1024,
      requests_per_minute: 60,
      tokens_per_minute: 1000000000,
      budget: 0.01,
    },
    experiment_dir: '/e',
    checkout: null,
  });
  assert.deepEqual((read[1] as { limits: object }).limits, {
    concurrency: 8,
    requests_per_minute: 0,
    tokens_per_minute: 0,
    budget: 0,
  });
});

test('the engines replay and local have every fault that a spec may name', () => {
  const { faults, planted } = ask();
  assert.deepEqual(faults, [...REPLAY_FAULTS]);
  assert.deepEqual((LocalSpec.properties.training.properties.fault as { enum?: string[] }).enum, planted);
});

test("the ray-worker's tests start from the resolved examples of this version", () => {
  assert.equal(
    readFileSync(RESOLVED_EXAMPLES, 'utf8'),
    resolvedExamples(),
    'run node test/support/resolved-examples.ts',
  );
});
