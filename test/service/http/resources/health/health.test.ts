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
