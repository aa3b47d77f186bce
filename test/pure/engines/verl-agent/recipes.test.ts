import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { Value } from 'typebox/value';
import { allRecipes, engineOf, recipesWith } from '../../../../src/engines/registry.ts';
import { MERGED_CONFIG, mergedDefault } from '../../../../src/engines/verl-agent/merged-config.ts';
import { RecipeSummary } from '../../../../src/engines/verl-agent/recipe-schemas.ts';
import { RECIPES, recipeOf, SCRIPT_ENVIRONMENT } from '../../../../src/engines/verl-agent/recipes.ts';
import { RECIPE_NAMES } from '../../../../src/engines/verl-agent/spec.ts';

interface Script {
  script: string;
  modelSize: string;
  environment: string;
  phase: string;
  entrypointAsWritten: string;
  gpus: number;
  env: Record<string, string>;
  dataPrep: { trainRows: number; valRows: number };
  overrides: Record<string, string>;
}

const SCRIPTS = ['hgpo', 'graphgpo'].flatMap(
  (recipe) => JSON.parse(readFileSync(`test/golden/recipes/${recipe}-recipes.json`, 'utf8')) as Script[],
);
const nameOf = ({ script }: Script): string => {
  const name = /run_(.*)\.sh$/.exec(script)![1]!;
  return script.includes('GraphGPO') ? `graphgpo_${name}` : name;
};

describe("the recipes are the scripts'", () => {
  test('there is one recipe for each script, with its name', () => {
    assert.deepEqual(new Set(SCRIPTS.map(nameOf)), new Set(RECIPE_NAMES));
    assert.deepEqual(
      RECIPES.map(({ name }) => name),
      [...RECIPE_NAMES],
    );
  });

  for (const script of SCRIPTS) {
    test(`the recipe of ${script.script} has the settings of the script`, () => {
      const recipe = RECIPES.find(({ name }) => name === nameOf(script))!;
      assert.equal(recipe, recipeOf(recipe.name));
      assert.deepEqual(recipe.overrides, Object.entries(script.overrides));
      assert.deepEqual(
        [recipe.modelSize, recipe.environment, recipe.phase, recipe.program, recipe.gpus],
        [script.modelSize, script.environment, script.phase, script.entrypointAsWritten, script.gpus],
      );
      assert.deepEqual(
        [recipe.trainRows, recipe.validationRows],
        [script.dataPrep.trainRows, script.dataPrep.valRows],
      );
      assert.deepEqual(SCRIPT_ENVIRONMENT, script.env);
    });
  }
});

test('the summary of every recipe fits its schema, and an unknown recipe does not', () => {
  for (const { name, modelSize, environment, phase, gpus } of RECIPES) {
    const summary = { name, modelSize, environment, phase, gpus };
    assert.ok(Value.Check(RecipeSummary, summary), name);
    assert.ok(!Value.Check(RecipeSummary, { ...summary, name: 'another' }));
  }
});

test('every key of every script exists in the merged configuration', () => {
  for (const { overrides } of RECIPES) for (const [key] of overrides) assert.ok(MERGED_CONFIG.has(key), key);
});

test('the merged configuration has the defaults that plans work around', () => {
  assert.equal(mergedDefault('algorithm.filter_groups.max_num_gen_batches'), '0');
  assert.equal(mergedDefault('algorithm.adv_estimator'), 'gae');
  assert.equal(mergedDefault('trainer.val_only'), 'false');
});

test('mergedDefault follows references and returns undefined for an unknown key', () => {
  assert.equal(mergedDefault('critic.forward_micro_batch_size_per_gpu'), 'null');
  assert.equal(mergedDefault('critic.ppo_mini_batch_size'), '256');
  assert.equal(mergedDefault('algorithm.hgpo.epsilon'), undefined);
  for (const [key, value] of MERGED_CONFIG) {
    assert.match(key, /^[a-z_]+(\.[A-Za-z_]+)+$/);
    assert.notEqual(value, '', key);
    assert.notEqual(mergedDefault(key), undefined, key);
  }
});

test('each listed recipe leads to the recipes of its engine, and an unknown name to none', () => {
  const names = allRecipes().map(({ name }) => name);
  assert.ok(names.length > 0);
  assert.equal(new Set(names).size, names.length);
  for (const name of names) assert.equal(recipesWith(name), engineOf('verl-agent').recipes);
  assert.equal(recipesWith('no-such-recipe'), undefined);
});
