import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Value } from 'typebox/value';
import { RecipeSummary } from '../../../../src/engines/verl-agent/recipe-schemas.ts';
import { RECIPES } from '../../../../src/engines/verl-agent/recipes.ts';

test('the summary of every recipe fits its schema, and an unknown recipe does not', () => {
  for (const { name, modelSize, environment, phase, gpus } of RECIPES) {
    const summary = { name, modelSize, environment, phase, gpus };
    assert.ok(Value.Check(RecipeSummary, summary), name);
    assert.ok(!Value.Check(RecipeSummary, { ...summary, name: 'another' }));
  }
});
