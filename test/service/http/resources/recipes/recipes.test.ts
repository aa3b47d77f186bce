import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { faithfulPlan } from '../../../../../src/engines/verl-agent/recipe-plan.ts';
import { RECIPE_NAMES } from '../../../../../src/engines/verl-agent/spec.ts';
import { appFor } from '../../../../support/http-app.ts';
import { storeOf } from '../../../../support/made-up-store.ts';

/** No clusters, and no recorded checkpoints: all that a plan of an evaluation asks for. */
const { call } = await appFor({ after }, { store: storeOf(() => async () => []) });

test('the list of recipes has one recipe per script, with its name', async () => {
  const { items } = (await call('GET', '/v1/recipes')).json();
  assert.deepEqual(items.map(({ name }: { name: string }) => name).sort(), [...RECIPE_NAMES].sort());
});

test('a recipe shows its faithful command, its corrections with reasons, and its fields', async () => {
  for (const name of RECIPE_NAMES) {
    const response = await call('GET', `/v1/recipes/${name}`);
    assert.equal(response.statusCode, 200);
    const recipe = response.json();
    const { program, overrides } = faithfulPlan(name);
    assert.deepEqual([recipe.faithful.program, recipe.faithful.overrides], [program, overrides]);
    assert.match(recipe.faithful.commandLine, new RegExp(`^.*-m ${program} `));
    assert.ok(recipe.corrected.corrections.every(({ reason }: { reason: string }) => reason.length > 10));
    const groups = recipe.fields.find(({ field }: { field: string }) => field === '/rollout/groups');
    assert.deepEqual(groups, { field: '/rollout/groups', keys: ['data.train_batch_size'], value: 16 });
    const planned = await call('POST', '/v1/plans', { body: recipe.spec });
    assert.equal(planned.statusCode, 200, planned.body);
    assert.deepEqual(planned.json().corrections, recipe.corrected.corrections);
    assert.deepEqual(planned.json().checks, recipe.corrected.checks);
  }
});

test('an unknown recipe gets 404 with the nearest name', async () => {
  const answer = await call('GET', '/v1/recipes/qwen2.5_1.5b_alfword_train');
  assert.equal(answer.statusCode, 404);
  assert.match(answer.json().detail, /Did you mean qwen2\.5_1\.5b_alfworld_train\?/);
  assert.equal((await call('GET', `/v1/recipes/${'x'.repeat(9000)}`)).statusCode, 404);
});
