import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Permissions } from '../../../../src/engines/engine.ts';
import { codePathProblems, VERL_AGENT } from '../../../../src/engines/verl-agent/engine.ts';
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

const SPEC = { ...VERL_AGENT.example, home: '/srv/verl-agent', allowCustomCode: true };

test('a spec with a directory and custom code needs permission for both', () => {
  const fields = (permissions: Permissions) =>
    VERL_AGENT.permissionProblems!(SPEC, permissions).map(({ field }) => field);
  assert.deepEqual(fields({}), ['/home', '/allowCustomCode']);
  assert.deepEqual(fields({ codePaths: ['/srv'] }), ['/allowCustomCode']);
  assert.deepEqual(fields({ customCode: true }), []);
});

test('the notes of a plan have changes and corrections once, and the details without them', () => {
  const { changes, corrections, details } = VERL_AGENT.notes!(VERL_AGENT.resolve(VERL_AGENT.example));
  assert.ok(corrections.length > 0);
  assert.ok(Array.isArray(changes));
  assert.equal(details.recipe, VERL_AGENT.example.recipe);
  assert.ok(!('changes' in details) && !('corrections' in details));
});
