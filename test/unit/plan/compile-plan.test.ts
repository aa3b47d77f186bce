import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compilePlan } from '../../../src/plan/compile-plan.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';
import { type ExperimentSpec, REPLAY_FAULTS } from '../../../src/schemas/spec.ts';

const plan = (spec: ExperimentSpec) => compilePlan(resolveSpec(spec).spec);

describe('compilePlan', () => {
  test('of the local engine hands over every value of the spec', () => {
    const compiled = plan({
      engine: 'local',
      name: 'not in the plan; rm -rf /',
      estimator: { name: 'hgpo', historyLength: 1, baseGroup: true },
      training: { steps: 7, learningRate: 1e-7, stepDelaySeconds: 0.25 },
      gracePeriodSeconds: 1.5,
      resources: { cpus: 0.5 },
    });
    assert.equal(compiled.module, 'echelon_rayworker.engines.local');
    assert.equal(compiled.gracePeriodMs, 1500);
    assert.deepEqual([compiled.gpus, compiled.cpus], [0, 0.5]);
    for (const argument of [
      'estimator.name=hgpo',
      'estimator.history_length=1',
      'estimator.base_group=true',
      'training.steps=7',
      'training.learning_rate=1e-7',
      'step_delay_ms=250',
      'observations=digests',
      'experiment_dir={experimentDir}',
    ]) {
      assert.ok(compiled.arguments.includes(argument), argument);
    }
    assert.ok(!JSON.stringify(compiled).includes('rm -rf'));
  });

  test('names only the fields that the estimator uses', () => {
    const keys = plan({ engine: 'local', name: 'x', estimator: { name: 'grpo' } })
      .arguments.map((argument) => argument.split('=')[0])
      .filter((key) => key?.startsWith('estimator.'));
    assert.deepEqual(keys, [
      'estimator.name',
      'estimator.normalize_by_std',
      'estimator.invalid_action_penalty',
    ]);
  });

  test('of a replay hands over every value, for every fault', () => {
    for (const fault of REPLAY_FAULTS) {
      assert.deepEqual(
        plan({ engine: 'replay', name: 'x', replay: { fault, delaySeconds: 0.1 } }).arguments,
        [
          `fault=${fault}`,
          'batches=0',
          'delay_ms=100',
          'stop_after=0',
          'exit_code=0',
          'log_lines=0',
          'hang=false',
          'ignore_sigterm=false',
        ],
      );
    }
  });

  test('sets no key twice', () => {
    for (const name of ['hgpo', 'gigpo', 'grpo'] as const) {
      const keys = plan({ engine: 'local', name: 'x', estimator: { name } }).arguments.map(
        (one) => one.split('=')[0],
      );
      assert.equal(new Set(keys).size, keys.length);
    }
  });
});
