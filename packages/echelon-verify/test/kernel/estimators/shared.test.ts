import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeParameters, isAllowed } from '../../../src/kernel/estimators/parameters.ts';
import { estimatorNames, estimatorOf } from '../../../src/kernel/estimators/registry.ts';
import {
  deviationVariant,
  groupVariants,
  modeVariant,
  numberText,
  unusual,
} from '../../../src/kernel/estimators/shared.ts';
import { completeParameters } from '../../../src/kernel.ts';

test('each variant changes parameters of its estimator, to values that its rules allow', () => {
  for (const name of estimatorNames()) {
    const { parameters, variants, fingerprint } = estimatorOf(name);
    const own = completeParameters(parameters);
    for (const { text, changes } of variants(own)) {
      for (const [key, value] of Object.entries(changes)) {
        assert.ok(isAllowed(parameters[key]!, value), `${name}: ${text}`);
      }
      const changed = changeParameters(parameters, own, changes);
      assert.equal(typeof fingerprint(changed).join(), 'string');
    }
  }
});

test('each default is allowed by its own rule', () => {
  for (const name of estimatorNames()) {
    for (const [key, rule] of Object.entries(estimatorOf(name).parameters)) {
      assert.ok(isAllowed(rule, rule.default), `${name}.${key}`);
      assert.match(rule.doc, /\.$/, `${name}.${key}`);
    }
  }
});

test('variants turn to the other value', () => {
  const divided = { epsilon: 1e-6, epsilonPlace: 'added' } as const;
  assert.deepEqual(deviationVariant({ ...divided, deviation: 'sample' }).changes, {
    deviation: 'population',
  });
  assert.deepEqual(modeVariant({ mode: 'mean_norm' }).changes, { mode: 'mean_std_norm' });
  const [, statistics] = groupVariants({ statistics: 'trajectories' });
  assert.deepEqual(statistics!.changes, { statistics: 'rows' });
});

test('fingerprints name what is unusual, and numbers as people write them', () => {
  assert.deepEqual([unusual('a', 'x', 'x'), unusual('a', 'x', 'y')], [[], ['a=x']]);
  assert.deepEqual([1e-6, 0, 0.5, 12].map(numberText), ['1e-6', '0', '0.5', '12']);
});
