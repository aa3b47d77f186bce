import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fingerprint } from 'echelon-verify/kernel/estimators/fingerprint';
import { LOCAL } from '../../../src/engines/local/engine.ts';
import type { LocalSpec } from '../../../src/engines/local/spec.ts';
import { compilePlan } from '../../../src/plan/compile-plan.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';

const spec = (more: Partial<LocalSpec>) =>
  resolveSpec({ engine: 'local', name: 'x', estimator: { name: 'hgpo' }, ...more }).spec;

test('the plan of a local training has the spec in a file, without its name', () => {
  const resolved = spec({
    name: 'not in the plan; rm -rf /',
    estimator: { name: 'hgpo', historyLength: 1, baseGroup: true },
    training: { steps: 7, learningRate: 1e-7, stepDelaySeconds: 0.25 },
    gracePeriodSeconds: 1.5,
    resources: { cpus: 0.5 },
  });
  const compiled = compilePlan(resolved);
  assert.equal(compiled.module, 'echelon_rayworker.engines.local');
  assert.equal(compiled.gracePeriodMs, 1500);
  assert.deepEqual([compiled.gpus, compiled.cpus], [0, 0.5]);
  const { name: _name, ...settings } = resolved;
  assert.deepEqual(JSON.parse(String(compiled.files['spec.json'])), { spec: settings, plan: {} });
  assert.ok(!JSON.stringify(compiled).includes('rm -rf'));
});

test('a resolved local training has only the fields that its estimator uses', () => {
  const resolved = spec({ estimator: { name: 'grpo' } });
  assert.ok(resolved.engine === 'local');
  assert.deepEqual(Object.keys(resolved.estimator), ['name', 'normalizeByStd', 'invalidActionPenalty']);
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
