import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fingerprint } from 'echelon-verify/kernel/estimators/fingerprint';
import { LOCAL } from '../../../../src/engines/local/engine.ts';
import type { LocalSpec } from '../../../../src/engines/local/spec.ts';
import { compilePlan } from '../../../../src/plan/compile-plan.ts';
import { resolveSpec } from '../../../../src/plan/resolve-spec.ts';

const plan = (spec: LocalSpec) => compilePlan(resolveSpec(spec).spec);

test('the plan of a local training passes every value of the spec', () => {
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

test('the plan of a local training passes only the fields that its estimator uses', () => {
  const keys = plan({ engine: 'local', name: 'x', estimator: { name: 'grpo' } })
    .arguments.map((argument) => argument.split('=')[0])
    .filter((key) => key?.startsWith('estimator.'));
  assert.deepEqual(keys, [
    'estimator.name',
    'estimator.normalize_by_std',
    'estimator.invalid_action_penalty',
  ]);
});

test('the plan of a local training sets no key twice', () => {
  for (const name of ['hgpo', 'gigpo', 'grpo'] as const) {
    const keys = plan({ engine: 'local', name: 'x', estimator: { name } }).arguments.map(
      (one) => one.split('=')[0],
    );
    assert.equal(new Set(keys).size, keys.length);
  }
});

test("the fingerprint of a local training is the kernel's", () => {
  const of = (estimator: LocalSpec['estimator']) =>
    LOCAL.fingerprint(LOCAL.resolve({ engine: 'local', name: 'x', estimator }));
  for (const name of ['hgpo', 'gigpo', 'grpo'] as const) assert.equal(of({ name }), fingerprint(name, {}));
  const changed = { historyLength: 4, mode: 'mean_norm', lengthWeightAlpha: 0.5, baseGroup: true } as const;
  assert.equal(of({ name: 'hgpo', ...changed }), fingerprint('hgpo', changed));
  assert.equal(
    of({ name: 'gigpo', stepAdvantageWeight: 2 }),
    fingerprint('gigpo', { stepAdvantageWeight: 2 }),
  );
  assert.equal(of({ name: 'grpo', normalizeByStd: false }), fingerprint('grpo', { normalizeByStd: false }));
});
