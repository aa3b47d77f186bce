import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readEstimator, readProvenance } from '../../src/format/json-params.ts';
import { GRPO_RECIPE, HGPO_RECIPE } from '../../src/kernel.ts';

const place = { file: 'f', batch: 'b' };
const none = { returns: false };

test('an omitted parameter has the recipe’s value', () => {
  assert.deepEqual(readEstimator(place, { historyLength: 2, mode: 'mean_norm' }, none), {
    name: 'hgpo',
    params: { ...HGPO_RECIPE, mode: 'mean_norm' },
    gamma: 1,
    invalidActionPenalty: 0,
    precision: 'float32',
  });
});

test('each estimator must state what its numbers depend on, and no more', () => {
  assert.equal(readEstimator(place, { estimator: 'grpo' }, none).name, 'grpo');
  assert.throws(() => readEstimator(place, { estimator: 'gigpo' }, none), /params.mode/);
  assert.throws(() => readEstimator(place, { mode: 'mean_norm' }, none), /params.historyLength/);
  assert.throws(() => readEstimator(place, { estimator: 'grpo' }, { returns: true }), /params.gamma/);
});

test('statistics over trajectories and the forms of the formula can be stated', () => {
  const stated = { estimator: 'grpo', statistics: 'trajectories', forms: 'recipe' };
  const { params, forms } = readEstimator(place, stated, none);
  assert.deepEqual([params, forms], [{ ...GRPO_RECIPE, statistics: 'trajectories' }, 'recipe']);
  assert.throws(() => readEstimator(place, { ...stated, statistics: 'tokens' }, none), /rows, trajectories/);
  assert.throws(() => readEstimator(place, { ...stated, forms: 'mine' }, none), /recipe, any/);
});

test('numbers out of range and unknown keys are refused by their path', () => {
  const params = { historyLength: 2, mode: 'mean_norm' };
  for (const bent of [
    { epsilon: -1 },
    { epsilon: null, gamma: '1' },
    { lengthWeightAlpha: 1e308 },
    { baseGroup: 1 },
  ]) {
    assert.throws(() => readEstimator(place, { ...params, ...bent }, none), /field params\./);
  }
  assert.throws(
    () => readEstimator(place, { ...params, historylength: 1 }, none),
    /did you mean historyLength/,
  );
  assert.throws(() => readEstimator(place, { ...params, whiten: true }, none), /expected only estimator, /);
  assert.throws(
    () => readEstimator({ ...place, params: 'estimator' }, { mode: 'x' }, none),
    /field estimator\./,
  );
});

test('provenance has what is stated; 0 and an empty text state nothing', () => {
  assert.equal(readProvenance(place, {}), undefined);
  assert.equal(readProvenance(place, { provenance: { attempt: 0, experiment: '' } }), undefined);
  assert.deepEqual(readProvenance(place, { params: { groupSize: 8 } }), { groupSize: 8 });
  assert.deepEqual(readProvenance(place, { params: { groupSize: 8 }, provenance: { groupSize: 4 } }), {
    groupSize: 4,
  });
  assert.throws(
    () => readProvenance(place, { provenance: { rowsCollected: 1.5 } }),
    /provenance.rowsCollected/,
  );
  assert.throws(() => readProvenance(place, { provenance: { producer: 7 } }), /provenance.producer/);
  assert.throws(() => readProvenance(place, { params: { groupSize: 'x' } }), /params.groupSize/);
});
