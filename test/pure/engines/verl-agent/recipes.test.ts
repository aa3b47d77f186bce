import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
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

const SCRIPTS = JSON.parse(readFileSync('test/golden/recipes/hgpo-recipes.json', 'utf8')) as Script[];

describe("the recipes are the scripts'", () => {
  test('there is one recipe for each script, with its name', () => {
    const names = SCRIPTS.map(({ script }) => /run_(.*)\.sh$/.exec(script)![1]);
    assert.deepEqual(new Set(names), new Set(RECIPE_NAMES));
    assert.deepEqual(
      RECIPES.map(({ name }) => name),
      [...RECIPE_NAMES],
    );
  });

  for (const script of SCRIPTS) {
    test(`the recipe of ${script.script} has the settings of the script`, () => {
      const recipe = RECIPES.find(({ name }) => script.script.endsWith(`/run_${name}.sh`))!;
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
