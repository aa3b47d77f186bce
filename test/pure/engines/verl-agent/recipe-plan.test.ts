import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { correctedPlan, faithfulPlan, recipeSpec } from '../../../../src/engines/verl-agent/recipe-plan.ts';
import { RECIPE_NAMES } from '../../../../src/engines/verl-agent/spec.ts';

interface Script {
  script: string;
  entrypointAsWritten: string;
  entrypointThatWorks: string;
  env: Record<string, string>;
  overrides: Record<string, string>;
  dataPrep: { module: string; argv: string[] };
}
const SCRIPTS = ['hgpo', 'graphgpo'].flatMap(
  (recipe) => JSON.parse(readFileSync(`test/golden/recipes/${recipe}-recipes.json`, 'utf8')) as Script[],
);
const scriptOf = (name: string): Script => {
  const [, method, run] = /^(graphgpo_)?(.*)$/.exec(name)!;
  const folder = method === undefined ? 'hgpo' : 'GraphGPO';
  return SCRIPTS.find(({ script }) => script === `recipe/${folder}/run_${run}.sh`)!;
};

describe('a faithful plan', () => {
  for (const name of RECIPE_NAMES) {
    test(`the faithful plan of ${name} equals its script`, () => {
      const script = scriptOf(name);
      assert.deepEqual(faithfulPlan(name), {
        recipe: name,
        faithful: true,
        program: script.entrypointAsWritten,
        overrides: Object.entries(script.overrides).map(([key, value]) => `${key}=${value}`),
        environment: script.env,
        dataPreparation: { program: script.dataPrep.module, arguments: script.dataPrep.argv },
        corrections: [],
      });
    });
  }
});

describe('a corrected plan', () => {
  for (const name of RECIPE_NAMES) {
    test(`the corrected plan of ${name} starts the program that works and names every difference`, () => {
      const plan = correctedPlan(name);
      const script = scriptOf(name);
      assert.equal(plan.program, script.entrypointThatWorks);
      const passed = new Map(
        plan.overrides.map((one) => [one.split('=')[0]!, one.slice(one.indexOf('=') + 1)]),
      );
      const named = new Set(plan.corrections.map(({ key }) => key));
      for (const key of new Set([...passed.keys(), ...Object.keys(script.overrides)])) {
        if (passed.get(key) !== script.overrides[key]) assert.ok(named.has(key), key);
      }
      assert.deepEqual(plan.changes, []);
      assert.ok(!plan.checks.some(({ severity }) => severity === 'error'));
    });
  }

  test('the corrected plan of an evaluation reads the checkpoints of its own training', () => {
    const training = correctedPlan('qwen2.5_7b_webshop_train').checkpointDirectory;
    assert.equal(correctedPlan('qwen2.5_7b_webshop_eval').checkpointDirectory, training);
    assert.equal(recipeSpec('qwen2.5_7b_webshop_eval').evaluation?.checkpoint?.directory, training);
  });
});
