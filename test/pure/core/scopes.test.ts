import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANONYMOUS, hasScope, SCOPES, sees } from '../../../src/core/scopes.ts';

test('an anonymous caller sees no project and has no scope', () => {
  for (const project of ['default', 'a']) assert.equal(sees(ANONYMOUS, project), false);
  for (const scope of SCOPES) assert.equal(hasScope(ANONYMOUS, scope), false);
});

test('a bound caller sees its own project, another one all', () => {
  assert.equal(sees({ project: 'a' }, 'a'), true);
  assert.equal(sees({ project: 'a' }, 'b'), false);
  assert.equal(sees({ project: null }, 'b'), true);
});

test('admin is for callers of all projects', () => {
  assert.equal(hasScope({ project: null, scopes: ['admin'] }, 'admin'), true);
  assert.equal(hasScope({ project: 'a', scopes: ['admin'] }, 'admin'), false);
  assert.equal(hasScope({ project: 'a', scopes: ['read'] }, 'read'), true);
  assert.equal(hasScope({ project: 'a', scopes: ['read'] }, 'submit'), false);
});
