import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { requireOwnOrigin, wantsHtml } from '../../../../src/http/server/auth.ts';
import { allRoutes } from '../../../support/every-route.ts';
import { appFor, LOCAL, TOKEN } from '../../../support/http-app.ts';

describe('a request without a valid token', () => {
  test('every request without a valid token gets the same 401', async () => {
    const { call } = await appFor({ after }, { limits: { failedSignIns: 1000 } });
    const bodies = new Set<string>();
    for (const authorization of [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      'Bearer wrong',
      `Bearer ${TOKEN}x`,
      `Bearer ${TOKEN.slice(0, -1)}`,
      `Basic ${Buffer.from(`x:${TOKEN}`).toString('base64')}`,
      TOKEN,
      `Bearer ${TOKEN} ${TOKEN}`,
      `Bearer ${'x'.repeat(5000)}`,
    ]) {
      const headers = authorization === undefined ? {} : { authorization };
      const response = await call('POST', '/v1/plans', { token: null, body: LOCAL, headers });
      assert.equal(response.statusCode, 401, authorization);
      assert.equal(response.headers['www-authenticate'], 'Bearer realm="echelon"');
      bodies.add(response.body);
    }
    const inQuery = await call('GET', `/v1/queues?access_token=${TOKEN}`, { token: null });
    bodies.add(inQuery.body);
    const unknown = await call('GET', '/v1/nothing', { token: null });
    bodies.add(unknown.body);
    assert.equal(bodies.size, 1);
  });

  test('every route except health, sign-in and the files of its page gets 401 without a token', async () => {
    const oidc = {
      issuer: 'https://id.example',
      clientId: 'a',
      clientSecret: 'b',
      scopes: '',
      groupsClaim: 'g',
      grants: [],
    };
    const { app } = await appFor({ after }, { limits: { failedSignIns: 100_000 }, settings: { oidc } });
    const routes = allRoutes(app);
    assert.ok(routes.length > 150);
    const open: string[] = [];
    for (const route of routes) {
      const [method, path = ''] = route.split(' ');
      const url = path.replaceAll(/:\w+/g, 'x').replace('*', '/x');
      const { statusCode } = await app.inject({
        method: method as 'GET',
        url,
        headers: { host: 'echelon.test' },
      });
      if (statusCode !== 401) open.push(route);
    }
    const page = ['GET /login', 'GET /login.js', 'GET /assets/:name', 'GET /favicon.ico'];
    const signIn = ['POST /login', 'GET /login/oidc', 'POST /login/oidc', 'POST /login/device'];
    assert.deepEqual(open.sort(), ['GET /healthz', 'GET /readyz', ...page, ...signIn].sort());
  });

  test('failed sign-ins are limited by address, and a valid token still works from there', async () => {
    const { call } = await appFor({ after }, { limits: { failedSignIns: 3 } });
    const statuses: number[] = [];
    for (let tries = 0; tries < 5; tries++) {
      statuses.push((await call('POST', '/v1/plans', { token: `wrong${tries}`, body: LOCAL })).statusCode);
    }
    assert.deepEqual(statuses, [401, 401, 401, 429, 429]);
    assert.equal((await call('POST', '/v1/plans', { body: LOCAL })).statusCode, 200);
  });
});

test('every token of the settings is accepted', async () => {
  const { call } = await appFor({ after }, { settings: { tokens: ['first-token', 'second-token'] } });
  for (const token of ['first-token', 'second-token']) {
    assert.equal((await call('POST', '/v1/plans', { token, body: LOCAL })).statusCode, 200);
  }
});

test('requireOwnOrigin accepts only the scheme, host and port of the public address or of the request', () => {
  const from = (origin: string | undefined, host: string | undefined = 'a.test:1') =>
    ({ headers: { origin, host } }) as FastifyRequest;
  requireOwnOrigin(from('https://public.test'), 'https://public.test/echelon');
  requireOwnOrigin(from('https://a.test:1'), 'https://public.test');
  requireOwnOrigin(from('https://a.test', 'a.test:443'), 'https://public.test');
  requireOwnOrigin(from('http://127.0.0.1:7077', '127.0.0.1:7077'), 'http://0.0.0.0:7077');
  for (const origin of [
    undefined,
    'null',
    'x',
    'https://a.test',
    'https://a.test:2',
    // Fails if the scheme is not compared: someone on the network can write a page of http.
    'http://a.test:1',
    'http://public.test',
    'https://public.test:8443',
    'https://public.test.evil',
  ]) {
    assert.throws(() => requireOwnOrigin(from(origin), 'https://public.test'), { code: 'forbidden' }, origin);
  }
});

test('wantsHtml is true only if the request accepts text/html', () => {
  assert.ok(wantsHtml({ headers: { accept: 'text/html,application/xhtml+xml' } } as FastifyRequest));
  assert.ok(!wantsHtml({ headers: { accept: '*/*' } } as FastifyRequest));
  assert.ok(!wantsHtml({ headers: {} } as FastifyRequest));
});
