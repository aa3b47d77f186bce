import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAULTY, SWEEP } from '../../../../src/cli/demo/specs.ts';
import { validateSpec } from '../../../../src/engines/validate-spec.ts';
import { resolveSpec } from '../../../../src/plan/resolve-spec.ts';

test('every spec of the demo is one that the API accepts', () => {
  for (const spec of [...SWEEP, FAULTY])
    assert.doesNotThrow(() => resolveSpec(validateSpec(structuredClone(spec))), spec.name);
});

test('the three trainings differ in their estimator and their name, and in nothing else', () => {
  const rest = SWEEP.map((spec) => {
    const {
      name: _,
      estimator: __,
      ...others
    } = resolveSpec(validateSpec(structuredClone(spec))).spec as unknown as Record<string, unknown>;
    return others;
  });
  assert.equal(rest.length, 3);
  for (const one of rest) assert.deepEqual(one, rest[0]);
});
