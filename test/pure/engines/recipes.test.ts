import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allRecipes, recipesWith } from '../../../src/engines/recipes.ts';
import { engineOf } from '../../../src/engines/registry.ts';

test('each listed recipe leads to the recipes of its engine, and an unknown name to none', () => {
  const names = allRecipes().map(({ name }) => name);
  assert.ok(names.length > 0);
  assert.equal(new Set(names).size, names.length);
  for (const name of names) assert.equal(recipesWith(name), engineOf('verl-agent').recipes);
  assert.equal(recipesWith('no-such-recipe'), undefined);
});
