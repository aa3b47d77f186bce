import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createSlots } from '../../../../src/http/server/slots.ts';
import { appFor, LOCAL } from '../../../support/http-app.ts';
import { coded } from '../../../support/store.ts';

test('each token has its own request limit, and the 429 states when to retry', async () => {
  const settings = { tokens: ['token-one', 'token-two'] };
  const { call } = await appFor({ after }, { settings, limits: { requests: 2, requestWindowMs: 60_000 } });
  const plan = (token: string) => call('POST', '/v1/plans', { token, body: LOCAL });
  assert.equal((await plan('token-one')).statusCode, 200);
  assert.equal((await plan('token-one')).statusCode, 200);
  const response = await plan('token-one');
  assert.equal(response.statusCode, 429);
  assert.equal(response.json().code, 'rate-limited');
  assert.ok(Number(response.headers['retry-after']) > 0);
  assert.equal((await plan('token-two')).statusCode, 200);
  for (let count = 0; count < 5; count++) {
    assert.equal((await call('GET', '/healthz', { token: null })).statusCode, 200);
  }
});

test('a caller gets no more than its slots, and a released slot can be taken again', () => {
  const slots = createSlots(2, 'No more than 2 of them at once.');
  const release = slots.take('one');
  slots.take('one');
  assert.throws(() => slots.take('one'), coded('rate-limited'));
  slots.take('another');
  release();
  slots.take('one');
  assert.throws(() => slots.take('one'), coded('rate-limited'));
});
