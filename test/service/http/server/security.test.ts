import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { hostname } from '../../../../src/http/server/security.ts';
import { appFor } from '../../../support/http-app.ts';

const { call } = await appFor({ after }, { limits: { failedSignIns: 1000 } });

test('a request with a foreign Host header gets 403', async () => {
  for (const host of [
    'evil.test',
    'echelon.test.evil',
    'xechelon.test',
    '',
    'localhost',
    '127.0.0.1.nip.test',
  ]) {
    for (const path of ['/login', '/openapi.json', '/v1/queues', '/docs']) {
      const response = await call('GET', path, { headers: { host } });
      assert.equal(response.statusCode, 403, `${host} ${path}`);
      assert.equal(response.json().code, 'forbidden');
    }
  }
  for (const host of ['echelon.test', 'ECHELON.test:8080', '127.0.0.1:1']) {
    assert.equal((await call('GET', '/login', { headers: { host } })).statusCode, 200, host);
  }
});

test('a request with two session cookies gets 400', async () => {
  const cookie = 'echelon_session=a; other=1;  echelon_session=b';
  const cookies = await call('GET', '/login', { headers: { cookie } });
  assert.equal(cookies.statusCode, 400);
  assert.match(cookies.json().detail, /more than one session cookie/);
  const others = { cookie: 'a=1; a=2; echelon_session=x; echelon_session_2=y' };
  assert.equal((await call('GET', '/login', { headers: others })).statusCode, 200);
});

test('every answer has the security headers', async () => {
  for (const path of ['/login', '/docs', '/queues', '/openapi.json', '/v1/nothing', '/healthz']) {
    const { headers } = await call('GET', path);
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /default-src 'self'/);
    assert.match(policy, /script-src 'self'(;|$)/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['referrer-policy'], 'same-origin');
    assert.equal(headers['access-control-allow-origin'], undefined);
    assert.ok(headers['cache-control'], path);
  }
  assert.equal((await call('GET', '/v1/nothing')).headers['cache-control'], 'no-store');
});

test('a CORS preflight of another site gets 405 without CORS headers', async () => {
  const headers = { origin: 'http://evil.test', 'access-control-request-method': 'POST' };
  const response = await call('OPTIONS', '/v1/experiments', { headers });
  assert.equal(response.statusCode, 405);
  assert.ok(!Object.keys(response.headers).some((name) => name.startsWith('access-control')));
});

test('answers have Strict-Transport-Security if the public address is https', async (t) => {
  const { call: secure } = await appFor(t, { settings: { publicUrl: 'https://echelon.test' } });
  assert.ok((await secure('GET', '/login')).headers['strict-transport-security']);
  assert.equal((await call('GET', '/login')).headers['strict-transport-security'], undefined);
});

test('hostname removes the port', () => {
  assert.equal(hostname('A.test:80'), 'a.test');
  assert.equal(hostname('[::1]:80'), '[::1]');
  assert.equal(hostname(''), '');
});
