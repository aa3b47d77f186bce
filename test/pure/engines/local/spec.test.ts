import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EstimatorSpec, LocalSpec } from '../../../../src/engines/local/spec.ts';
import { specProblems } from '../../../../src/engines/validate-spec.ts';

const SPEC = { engine: 'local', name: 'x', estimator: { name: 'hgpo' } };

test('a local spec accepts the fields of its environment and refuses those of a recipe', () => {
  assert.deepEqual(specProblems({ ...SPEC, environment: { seed: 3, maxSteps: 20 } }), []);
  const fields = (spec: object) => specProblems(spec).map(({ field }) => field);
  assert.deepEqual(fields({ ...SPEC, recipe: 'x' }), ['/recipe']);
  assert.deepEqual(fields({ ...SPEC, environment: { maxSteps: 201 } }), ['/environment/maxSteps']);
  assert.equal(LocalSpec.properties.estimator, EstimatorSpec);
});
