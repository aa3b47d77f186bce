import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Store } from '../../../../../src/store/store.ts';
import { appFor } from '../../../../support/http-app.ts';
import { storeFor } from '../../../../support/store.ts';

const { store } = await storeFor({ after });

test('healthz and readyz need no token and accept any Host header', async (t) => {
  const { call } = await appFor(t, { store });
  for (const [path, more] of [
    ['/healthz', {}],
    ['/readyz', { warnings: [] }],
  ] as const) {
    const response = await call('GET', path, { token: null, headers: { host: '10.1.2.3:8080' } });
    assert.equal(response.statusCode, 200);
    assert.deepEqual(response.json(), { status: 'ok', ...more });
  }
});

test('if the store fails or hangs, readyz gets 503 and healthz still gets 200', async (t) => {
  const pressures = [async () => Promise.reject(new Error('secret address')), () => new Promise(() => {})];
  for (const pressure of pressures) {
    const { call } = await appFor(t, {
      store: { pressure } as unknown as Store,
      limits: { storeTimeoutMs: 50 },
    });
    const response = await call('GET', '/readyz', { token: null });
    assert.equal(response.statusCode, 503);
    assert.equal(response.json().code, 'store-unavailable');
    assert.ok(!response.body.includes('secret'));
    assert.equal((await call('GET', '/healthz', { token: null })).statusCode, 200);
  }
});

test('a leap of the clock of Redis is a warning of readyz, and an administrator confirms the clock', async (t) => {
  const { store } = await storeFor(t);
  const { call } = await appFor(t, { store });
  const reading = await store.clock.read();
  const own = { machine: 'm', uptime: 1, wall: 1, within: 0 };
  await store.clock.see(reading, -86_400_000, own);
  const { warnings } = (await call('GET', '/readyz', { token: null })).json();
  assert.match(warnings[0], /clock of Redis has leapt.*echelon clock --confirm/);
  assert.equal((await call('GET', '/v1/clock')).json().leapt, true);
  const confirmed = await call('POST', '/v1/clock/confirm');
  assert.deepEqual([confirmed.statusCode, confirmed.json().leapt], [200, false]);
  assert.deepEqual((await call('GET', '/readyz', { token: null })).json().warnings, []);
});
