import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appFor } from '../../../../support/http-app.ts';
import { storeFor } from '../../../../support/store.ts';

test('a leap of the clock of Redis is a warning of readyz, and an administrator confirms the clock', async (t) => {
  const { store } = await storeFor(t);
  const { call } = await appFor(t, { store });
  const reading = await store.clock.read();
  const own = { machine: 'm', uptime: 1, wall: 1, within: 0 };
  await store.clock.see(reading, -86_400_000, own);
  const { warnings } = (await call('GET', '/readyz', { token: null })).json();
  assert.match(warnings[0], /clock of Redis has leapt.*echelon clock confirm/);
  assert.equal((await call('GET', '/v1/clock')).json().leapt, true);
  const confirmed = await call('POST', '/v1/clock/confirm');
  assert.deepEqual([confirmed.statusCode, confirmed.json().leapt], [200, false]);
  assert.deepEqual((await call('GET', '/readyz', { token: null })).json().warnings, []);
});
