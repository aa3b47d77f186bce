import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codePathProblems } from '../../../../src/engines/verl-agent/code-paths.ts';
import type { VerlAgentSpec } from '../../../../src/engines/verl-agent/spec.ts';

const spec = (changes: Partial<VerlAgentSpec>): VerlAgentSpec => ({
  engine: 'verl-agent',
  name: 'a name',
  recipe: 'qwen2.5_1.5b_alfworld_train',
  ...changes,
});
const fields = (changes: Partial<VerlAgentSpec>, allowed: string[] = []) =>
  codePathProblems(spec(changes), allowed).map(({ field }) => field);

test('a spec that names a directory needs an allowed directory, a spec with a model name does not', () => {
  assert.deepEqual(fields({}), []);
  assert.deepEqual(fields({ model: { path: 'Qwen/Qwen2.5-1.5B-Instruct' } }), []);
  const all = { home: '/home/eve', model: { path: '/home/eve/m' }, critic: { path: '~/m' } };
  assert.deepEqual(fields(all), ['/home', '/model/path', '/critic/path']);
});

test('an allowed directory permits itself and paths below it, and no path beside or above it', () => {
  const allowed = ['/shared/models/', '/opt/verl-agent'];
  for (const path of ['/shared/models', '/shared/models/qwen', '/shared//models/./qwen', '/opt/verl-agent'])
    assert.deepEqual(fields({ model: { path } }, allowed), [], path);
  for (const path of [
    '/shared',
    '/shared/models2',
    '/shared/models/../../home/eve',
    './models',
    '/opt/verl-agents',
  ])
    assert.deepEqual(fields({ model: { path } }, allowed), ['/model/path'], path);
  assert.deepEqual(fields({ home: '/anywhere' }, ['/']), []);
});
