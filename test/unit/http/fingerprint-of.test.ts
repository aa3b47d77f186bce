import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fingerprintOf } from '../../../src/http/fingerprint-of.ts';
import { fingerprint } from '../../../src/kernel/fingerprint.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';
import type { EstimatorSpec } from '../../../src/schemas/spec.ts';

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
