import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fingerprint, GIGPO_RECIPE, GRPO_RECIPE, HGPO_RECIPE } from 'echelon-verify/kernel';
import { LOCAL } from '../../../src/engines/local/engine.ts';
import {
  completeEstimator,
  defaultOf,
  ESTIMATOR_FIELDS,
  unusedFields,
} from '../../../src/engines/local/estimator-fields.ts';
import { EstimatorSpec, LocalSpec } from '../../../src/engines/local/spec.ts';
import { specProblems } from '../../../src/engines/validate-spec.ts';
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

test('every field of the estimator schema is used by an estimator and has a default', () => {
  const fields = Object.keys(EstimatorSpec.properties).filter((field) => field !== 'name');
  assert.deepEqual([...new Set(Object.values(ESTIMATOR_FIELDS).flat())].sort(), [...fields].sort());
  for (const name of ['hgpo', 'gigpo', 'grpo'] as const) {
    for (const field of ESTIMATOR_FIELDS[name]) assert.notEqual(defaultOf(name, field), undefined);
  }
});

test('the defaults of an estimator are those of its recipe in the kernel', () => {
  const recipes = { hgpo: HGPO_RECIPE, gigpo: GIGPO_RECIPE, grpo: GRPO_RECIPE };
  let compared = 0;
  for (const name of ['hgpo', 'gigpo', 'grpo'] as const) {
    const recipe = recipes[name] as unknown as Record<string, unknown>;
    for (const field of ESTIMATOR_FIELDS[name].filter((one) => Object.hasOwn(recipe, one))) {
      assert.equal(defaultOf(name, field), recipe[field], `${name} ${field}`);
      compared++;
    }
  }
  assert.equal(compared, 7);
});

test('completeEstimator adds only the fields that the estimator uses', () => {
  assert.deepEqual(completeEstimator({ name: 'grpo' }, { historyLength: 5 }), {
    name: 'grpo',
    normalizeByStd: true,
    invalidActionPenalty: 0.1,
  });
  assert.equal(completeEstimator({ name: 'hgpo', historyLength: 0 }, { historyLength: 5 }).historyLength, 0);
  const hgpo = completeEstimator({ name: 'hgpo', baseGroup: true }, { historyLength: 5 });
  assert.deepEqual([hgpo.baseGroup, hgpo.historyLength], [true, 5]);
});

test('unusedFields names each field without effect', () => {
  assert.deepEqual(unusedFields({ name: 'hgpo', historyLength: 1 }), []);
  assert.deepEqual(
    unusedFields({ name: 'grpo', historyLength: 2, gamma: 1 }).map(({ field }) => field),
    ['/estimator/historyLength', '/estimator/gamma'],
  );
  assert.match(
    unusedFields({ name: 'gigpo', baseGroup: true })[0]!.message,
    /no effect on gigpo, which uses mode/,
  );
});

const SPEC = { engine: 'local', name: 'x', estimator: { name: 'hgpo' } };

test('a local spec accepts the fields of its environment and refuses those of a recipe', () => {
  assert.deepEqual(specProblems({ ...SPEC, environment: { seed: 3, maxSteps: 20 } }), []);
  const fields = (spec: object) => specProblems(spec).map(({ field }) => field);
  assert.deepEqual(fields({ ...SPEC, recipe: 'x' }), ['/recipe']);
  assert.deepEqual(fields({ ...SPEC, environment: { maxSteps: 201 } }), ['/environment/maxSteps']);
  assert.equal(LocalSpec.properties.estimator, EstimatorSpec);
});
