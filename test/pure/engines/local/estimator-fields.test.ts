import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GIGPO_RECIPE } from 'echelon-verify/kernel/estimators/gigpo';
import { GRPO_RECIPE } from 'echelon-verify/kernel/estimators/grpo';
import { HGPO_RECIPE } from 'echelon-verify/kernel/estimators/hgpo';
import {
  completeEstimator,
  defaultOf,
  ESTIMATOR_FIELDS,
  unusedFields,
} from '../../../../src/engines/local/estimator-fields.ts';
import { EstimatorSpec } from '../../../../src/engines/local/spec.ts';

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
