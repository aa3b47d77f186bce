import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCheck } from '../../../src/schemas/check.ts';
import { RunEvents, RunSpec } from '../../../src/schemas/runs.ts';

test('a run needs a name and knows no other fields', () => {
  const check = createCheck(RunSpec);
  assert.deepEqual(check({ name: 'r' }), []);
  assert.deepEqual(
    check({ cluster: 'local', silenceSeconds: 1 })
      .map(({ field }) => field)
      .toSorted(),
    ['/cluster', '/name', '/silenceSeconds'],
  );
});

test('events are those that an attempt reports', () => {
  const check = createCheck(RunEvents);
  const body = (event: object) => ({ token: 't', events: [{ sequence: 1, at: 1, event }] });
  assert.deepEqual(check(body({ type: 'checkpoint', step: 1, path: '/x' })), []);
  assert.notDeepEqual(check(body({ type: 'checkpoint', step: -1, path: '/x' })), []);
  assert.notDeepEqual(check(body({ type: 'state', from: null, to: 'failed', attempt: 1, reason: '' })), []);
});
