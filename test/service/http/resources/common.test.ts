import assert from 'node:assert/strict';
import { test } from 'node:test';
import { experimentOf, notFound, pauseBy, streamPlace } from '../../../../src/http/resources/common.ts';
import type { Experiment } from '../../../../src/schemas/experiment.ts';
import { NO_STORE } from '../../../support/http-app.ts';

const ADMIN = { caller: { id: 'a', name: 'a', project: null, scopes: [] } };
const experiment = { attempt: 2 } as Experiment;

test('experimentOf does not ask the store for an id that cannot exist', async () => {
  await assert.rejects(experimentOf(NO_STORE, ADMIN, '../../etc/passwd'), { code: 'not-found' });
  await assert.rejects(experimentOf(NO_STORE, ADMIN, `exp-${'a'.repeat(500)}`), { code: 'not-found' });
});

test('streamPlace accepts cursors up to the current attempt', () => {
  const place = (value: string | undefined) => streamPlace({ value, field: 'after', experiment });
  assert.equal(place(undefined), undefined);
  assert.equal(place('2-5'), '2-5');
  assert.equal(place('0-1'), '0-1');
  assert.throws(() => place('3-1'), { code: 'invalid-cursor' });
  assert.throws(() => place(''), { code: 'invalid-cursor' });
});

test('notFound quotes only the start of an id', () => {
  assert.ok(notFound('x'.repeat(1000)).message.length < 80);
});

test('a pause names the caller, the time and the reason, which is null without a body', () => {
  assert.deepEqual(pauseBy({ name: 'ann' }, { reason: 'upgrade' }, 5), {
    by: 'ann',
    at: 5,
    reason: 'upgrade',
  });
  assert.deepEqual(pauseBy({ name: 'ann' }, undefined, 5), { by: 'ann', at: 5, reason: null });
});
