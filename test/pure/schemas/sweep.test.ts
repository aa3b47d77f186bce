import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { STRICT_AJV } from '../../../src/schemas/check.ts';
import { SweepRequest } from '../../../src/schemas/sweep.ts';

const validate = new Ajv(STRICT_AJV).compile(SweepRequest);
const GOOD = { name: 'n', method: 'grid', spec: { engine: 'local' }, axes: { 'training.seed': [1, 2] } };

test('a valid sweep request of every method is accepted', () => {
  for (const request of [
    GOOD,
    { ...GOOD, method: 'list' },
    {
      ...GOOD,
      method: 'random',
      count: 3,
      seed: 7,
      axes: { a: { min: 0, max: 1, scale: 'log', integer: true } },
    },
  ])
    assert.ok(validate(request), JSON.stringify(validate.errors));
});

test('a sweep request with a missing, unknown or out-of-range value is refused', () => {
  for (const request of [
    { ...GOOD, name: '' },
    { ...GOOD, method: 'bayes' },
    { ...GOOD, spec: [] },
    { ...GOOD, axes: {} },
    { ...GOOD, axes: { a: [] } },
    { ...GOOD, axes: { a: { min: 0 } } },
    { ...GOOD, axes: { a: { min: 0, max: 1, step: 1 } } },
    { ...GOOD, count: 10_001 },
    { ...GOOD, seeds: 1 },
  ])
    assert.ok(!validate(request), JSON.stringify(request));
});
