import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { PROMPT } from '../../../../src/engines/prompt/engine.ts';
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

test('an address that is none, or whose path could be left, is refused before anything reads it', () => {
  const { unusable, usable } = JSON.parse(
    readFileSync('test/golden/vectors/endpoints.json', 'utf8'),
  ) as Record<'unusable' | 'usable', string[]>;
  const problemsOf = (baseUrl: string) => {
    const given = spec({ model: { ...MODEL, baseUrl } });
    const problems = specProblems(given);
    return problems.length > 0 ? problems : PROMPT.problems(given as PromptSpec);
  };
  for (const baseUrl of unusable) assert.equal(problemsOf(baseUrl)[0]?.field, '/model/baseUrl', baseUrl);
  for (const baseUrl of usable) assert.deepEqual(problemsOf(baseUrl), [], baseUrl);
});

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
