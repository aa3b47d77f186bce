import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fingerprintOf } from '../../../src/http/fingerprint-of.ts';
import { fingerprint } from '../../../src/kernel/fingerprint.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';
import type { EstimatorSpec } from '../../../src/schemas/spec.ts';
import type { VerlAgentSpec } from '../../../src/schemas/verl-agent-spec.ts';

const of = (estimator: EstimatorSpec) =>
  fingerprintOf(resolveSpec({ engine: 'local', name: 'x', estimator }).spec);

test("is the kernel's own", () => {
  for (const name of ['hgpo', 'gigpo', 'grpo'] as const) assert.equal(of({ name }), fingerprint(name, {}));
  const changed = { historyLength: 4, mode: 'mean_norm', lengthWeightAlpha: 0.5, baseGroup: true } as const;
  assert.equal(of({ name: 'hgpo', ...changed }), fingerprint('hgpo', changed));
  assert.equal(
    of({ name: 'gigpo', stepAdvantageWeight: 2 }),
    fingerprint('gigpo', { stepAdvantageWeight: 2 }),
  );
  assert.equal(of({ name: 'grpo', normalizeByStd: false }), fingerprint('grpo', { normalizeByStd: false }));
});

test('a replay has none', () => {
  assert.equal(fingerprintOf(resolveSpec({ engine: 'replay', name: 'x' }).spec), null);
});

test("of verl-agent is the kernel's, its K being that of the environment", () => {
  const of = (spec: Partial<VerlAgentSpec>) =>
    fingerprintOf(
      resolveSpec({ engine: 'verl-agent', name: 'x', recipe: 'qwen2.5_1.5b_webshop_train', ...spec }).spec,
    );
  const hgpo = fingerprint('hgpo', { historyLength: 4, mode: 'mean_norm' });
  const environment = { historyLength: 4 };
  assert.equal(of({ environment }), hgpo);
  assert.equal(of({ environment, advantages: 'exact' }), hgpo.replace(/\)$/, ',precision=float64)'));
  assert.equal(of({ estimator: { name: 'gigpo' } }), fingerprint('gigpo', { mode: 'mean_norm' }));
  assert.equal(
    of({ estimator: { name: 'grpo', normalizeByStd: false } }),
    fingerprint('grpo', { normalizeByStd: false }),
  );
  assert.equal(of({ estimator: { name: 'rloo' } }), fingerprint('rloo', {}));
  assert.equal(of({ estimator: { name: 'reinforce_plus_plus' } }), null);
  const evaluation = { checkpoint: { directory: 'a/b' } };
  assert.equal(of({ recipe: 'qwen2.5_1.5b_webshop_eval', evaluation }), null);
});
