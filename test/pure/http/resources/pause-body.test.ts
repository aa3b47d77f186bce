import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pauseBy, refuseBody } from '../../../../src/http/resources/pause-body.ts';

test('a pause names the caller, the time and the reason, which is null without a body', () => {
  assert.deepEqual(pauseBy({ name: 'ann' }, { reason: 'upgrade' }, 5), {
    by: 'ann',
    at: 5,
    reason: 'upgrade',
  });
  assert.deepEqual(pauseBy({ name: 'ann' }, undefined, 5), { by: 'ann', at: 5, reason: null });
});

test('refuseBody refuses any body', () => {
  refuseBody(undefined);
  assert.throws(() => refuseBody({}), /takes no body/);
});
