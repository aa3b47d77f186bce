import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PROMPT } from '../../../../src/engines/prompt/engine.ts';
import type { PromptSpec } from '../../../../src/engines/prompt/spec.ts';
import { compileVerlAgent } from '../../../../src/engines/verl-agent/compile.ts';
import { resolveVerlAgent } from '../../../../src/engines/verl-agent/resolve.ts';

const planned = (more: Partial<PromptSpec>) => {
  const model = { baseUrl: 'http://h/v1', name: 'm' };
  const resolved = PROMPT.resolve({ engine: 'prompt', name: 'x', model, ...more });
  const { arguments: given = [], plan = {} } = PROMPT.compile!(resolved);
  return { resolved, given, plan };
};

test("the environments of a checkout get the recipe's evaluation, with the settings of the spec", () => {
  const { resolved, given, plan } = planned({
    environment: { name: 'alfworld', seed: 456, historyLength: 4 },
    evaluation: { games: 20, split: 'seen' },
  });
  assert.deepEqual(resolved.resources, { nodes: 1, gpus: 0, cpus: 3 });
  const evaluation = resolveVerlAgent({
    engine: 'verl-agent',
    name: 'base',
    recipe: 'qwen2.5_1.5b_alfworld_eval',
    environment: { seed: 456, historyLength: 4 },
    evaluation: { games: 20, rounds: 1, split: 'seen', baseModel: true },
  });
  const ofEnvironments = (overrides: readonly string[]) =>
    overrides.filter((one) => /^(env\.|data\.val_batch_size|trainer\.val_)/.test(one));
  const expected = ofEnvironments(compileVerlAgent(evaluation).overrides);
  assert.ok(expected.includes('env.seed=456') && expected.includes('data.val_batch_size=20'));
  assert.ok(expected.includes('trainer.val_only=True') && expected.includes('trainer.val_out=False'));
  assert.deepEqual(ofEnvironments(given), expected);
  const { spec, plan: ofEvaluation } = plan.evaluation as { spec: object; plan: { phase: string } };
  assert.deepEqual({ ...spec, name: 'base', resources: 0 }, { ...evaluation, resources: 0 });
  assert.equal(ofEvaluation.phase, 'eval');
});

test('the local environment needs no checkout, and webshop has no split', () => {
  assert.deepEqual(planned({}).plan, {});
  const { resolved, given } = planned({ environment: { name: 'webshop' } });
  assert.equal(resolved.evaluation.split, undefined);
  assert.ok(given.includes('env.env_name=Webshop'));
});
