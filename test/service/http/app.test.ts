import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { appFor, NO_STORE } from '../../support/http-app.ts';

test('createApp refuses a cookie secret shorter than 32 characters', async (t) => {
  await assert.rejects(appFor(t, { settings: { cookieSecret: 'short' } }), /32 characters/);
});

test('an app starts without its store, answers health checks and closes', async (t) => {
  const { app } = await appFor(t, { store: NO_STORE });
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  const response = await fetch(`${origin}/healthz`);
  assert.deepEqual(await response.json(), { status: 'ok' });
  await app.close();
  await assert.rejects(fetch(`${origin}/healthz`));
});

test('each answer is one log line with its route and without its query', async (t) => {
  const { call, logged } = await appFor(t);
  await call('GET', '/v1/experiments?cursor=private-value', { token: 'private-token' });
  const lines = logged.filter(({ msg }) => msg === 'answered');
  assert.equal(lines.length, 1);
  assert.deepEqual([lines[0]?.method, lines[0]?.route, lines[0]?.status], ['GET', '/v1/experiments', 401]);
  assert.ok(!JSON.stringify(logged).includes('private'));
});

test('a passed health check is not logged at level info', async (t) => {
  const { call, logged } = await appFor(t);
  await call('GET', '/healthz');
  assert.deepEqual(
    logged.filter(({ msg, level }) => msg === 'answered' && Number(level) >= 30),
    [],
  );
});

test('closing an app does not wait for an idle connection', { timeout: 30_000 }, async (t) => {
  const { app } = await appFor(t, {
    limits: { requestTimeoutMs: 3_600_000, connectionTimeoutMs: 3_600_000 },
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  await app.close();
});
