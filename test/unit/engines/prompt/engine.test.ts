import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PROMPT } from '../../../../src/engines/prompt/engine.ts';
import type { PromptSpec } from '../../../../src/engines/prompt/spec.ts';
import { permissionProblems } from '../../../../src/engines/registry.ts';
import { resolveSpec } from '../../../../src/plan/resolve-spec.ts';

const MODEL = { baseUrl: 'https://api.openai.com/v1', name: 'gpt-4o' };
const spec = (more: Partial<PromptSpec> = {}): PromptSpec => ({
  engine: 'prompt',
  name: 'x',
  model: MODEL,
  ...more,
});
const planned = (given: PromptSpec) => {
  const resolved = resolveSpec(given).spec;
  assert.ok(resolved.engine === 'prompt');
  return PROMPT.compile(resolved).arguments;
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

  test('a secret goes to a public endpoint for every submitter, elsewhere only with the scope custom-code', () => {
    const fields = (baseUrl: string, customCode: boolean) => {
      const model = { ...MODEL, baseUrl, apiKey: 'K' };
      return permissionProblems(spec({ model, secrets: { K: 'k' } }), { customCode }).map(
        ({ field }) => field,
      );
    };
    assert.deepEqual(fields('https://api.openai.com/v1', false), []);
    for (const other of ['http://api.openai.com/v1', 'https://api.openai.com.example.org', 'https://h/v1']) {
      assert.deepEqual(fields(other, false), ['/model/apiKey'], other);
      assert.deepEqual(fields(other, true), []);
    }
    const noKey = spec({ model: { ...MODEL, baseUrl: 'http://127.0.0.1:8000/v1' } });
    assert.deepEqual(permissionProblems(noKey, {}), []);
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

describe('the plan of the prompt engine', () => {
  test('limits are passed only if they are set, and reflexion has trials', () => {
    const text = planned(spec()).join(' ');
    assert.doesNotMatch(text, /limits\.(requests|tokens|budget)|api_key/);
    assert.match(text, /method\.trials=1 /);
    assert.match(planned(spec({ method: { name: 'reflexion' } })).join(' '), /method\.trials=3 /);
  });

  test('the address and the name of the model are one argument each', () => {
    const model = { baseUrl: 'http://10.0.0.1:8000/v1', name: 'Qwen/Qwen2.5-7B-Instruct' };
    assert.deepEqual(planned(spec({ model })).slice(-2), [
      'model.base_url=http://10.0.0.1:8000/v1',
      'model.name=Qwen/Qwen2.5-7B-Instruct',
    ]);
  });
});
