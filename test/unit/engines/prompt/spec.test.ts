import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PromptSpec } from '../../../../src/engines/prompt/spec.ts';
import { specProblems } from '../../../../src/engines/validate-spec.ts';

const MODEL = { baseUrl: 'https://api.openai.com/v1', name: 'gpt-4o' };
const spec = (more: Partial<PromptSpec>) => ({ engine: 'prompt', name: 'x', ...more });

for (const [what, model] of [
  ['without a scheme', { ...MODEL, baseUrl: 'api.openai.com/v1' }],
  ['of another scheme', { ...MODEL, baseUrl: 'file:///etc/passwd' }],
  ['with a query', { ...MODEL, baseUrl: 'https://h/v1?x=1' }],
  ['with a placeholder', { ...MODEL, baseUrl: 'https://h/{sharedRoot}' }],
  ['with a blank', { ...MODEL, baseUrl: 'https://h/v1 model.name=other' }],
  ['with credentials', { ...MODEL, baseUrl: 'https://user:word@h/v1' }],
] as const) {
  test(`an address ${what} is refused`, () => {
    const [problem] = specProblems(spec({ model }));
    assert.equal(problem?.field, '/model/baseUrl');
    assert.match(problem.message, /OpenAI-compatible|\/secrets/);
  });
}

test('an unknown field is refused', () => {
  const problems = specProblems(spec({ model: { ...MODEL, tempratur: 1 } as PromptSpec['model'] }));
  assert.deepEqual(
    problems.map(({ field }) => field),
    ['/model/tempratur'],
  );
});

test('a key in plain text is refused without being repeated', () => {
  const key = `sk-${'A1b2C3d4'.repeat(5)}`;
  const [problem] = specProblems(spec({ model: { ...MODEL, apiKey: key } }));
  assert.equal(problem?.field, '/model/apiKey');
  assert.match(problem.message, /API key.*\/secrets/);
  assert.ok(!problem.message.includes(key));
});
