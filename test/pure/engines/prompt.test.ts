import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PROMPT } from '../../../src/engines/prompt/engine.ts';
import type { PromptSpec } from '../../../src/engines/prompt/spec.ts';
import { permissionProblems } from '../../../src/engines/registry.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';

const MODEL = { baseUrl: 'https://api.openai.com/v1', name: 'gpt-4o' };
const spec = (more: Partial<PromptSpec> = {}): PromptSpec => ({
  engine: 'prompt',
  name: 'x',
  model: MODEL,
  ...more,
});
const resolved = (given: PromptSpec) => {
  const { spec } = resolveSpec(given, { customCode: true });
  assert.ok(spec.engine === 'prompt');
  return spec;
};

describe('what the prompt engine refuses', () => {
  test('a key needs a secret of the name, trials need reflexion, and a budget needs a price', () => {
    const contradictions = (more: Partial<PromptSpec>) =>
      PROMPT.problems(spec(more)).map(({ field }) => field);
    const model = { ...MODEL, apiKey: 'OPENAI_API_KEY' };
    assert.deepEqual(contradictions({ model }), ['/model/apiKey']);
    assert.deepEqual(contradictions({ model, secrets: { OPENAI_API_KEY: 'openai' } }), []);
    assert.deepEqual(contradictions({ method: { trials: 2 } }), ['/method/trials']);
    assert.deepEqual(contradictions({ method: { name: 'reflexion', trials: 2 } }), []);
    assert.deepEqual(contradictions({ limits: { budget: 1 } }), ['/limits/budget']);
    const price = { input: 2.5, output: 10 };
    assert.deepEqual(contradictions({ limits: { budget: 1 }, model: { ...MODEL, price } }), []);
  });

  test("a submitter's endpoint is one of the operator's, or the submitter has the scope custom-code", () => {
    const endpoints = ['https://api.openai.com'];
    assert.deepEqual(permissionProblems(spec(), { endpoints }), []);
    assert.deepEqual(permissionProblems(spec(), { customCode: true }), []);
    assert.equal(permissionProblems(spec(), {})[0]?.field, '/model/baseUrl');
  });

  test('a metadata service is never an endpoint, with any permission', () => {
    const model = { ...MODEL, baseUrl: 'http://169.254.169.254/v1' };
    const permissions = { customCode: true, endpoints: ['http://169.254.169.254'] };
    assert.throws(() => resolveSpec(spec({ model }), permissions), { code: 'invalid-spec' });
  });
});

test('a split of another environment is refused', () => {
  const fields = (name: 'local' | 'alfworld' | 'webshop', split: 'seen' | 'held-out') =>
    PROMPT.problems(spec({ environment: { name }, evaluation: { split } })).map(({ field }) => field);
  assert.deepEqual(fields('local', 'held-out'), []);
  assert.deepEqual(fields('alfworld', 'seen'), []);
  for (const name of ['local', 'webshop'] as const) {
    assert.deepEqual(fields(name, 'seen'), ['/evaluation/split']);
  }
});

test('a prompted evaluation has limits only if they are set, and reflexion has trials', () => {
  const { limits, method, model } = resolved(spec());
  assert.deepEqual(limits, { concurrency: 8 });
  assert.equal(method.trials, 1);
  assert.ok(!('apiKey' in model));
  assert.equal(resolved(spec({ method: { name: 'reflexion' } })).method.trials, 3);
});
