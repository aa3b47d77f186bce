import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Permissions } from '../../../../src/engines/engine.ts';
import { VERL_AGENT } from '../../../../src/engines/verl-agent/engine.ts';

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
