import assert from 'node:assert/strict';
import { createSign, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { createOidc, type OidcSettings } from '../../../../src/http/access/oidc.ts';
import { appFor } from '../../../support/http-app.ts';

const PUBLIC = 'http://echelon.test';
const CLIENT = { clientId: 'echelon', clientSecret: 'secret-of-the-client-0123456789' };
const keyPair = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const [published, other] = [keyPair(), keyPair()];

/** What the provider does next, and what it was asked. */
const provider = { signs: published, nonce: '', asked: [] as string[] };

function idToken(issuer: string): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: issuer,
    aud: CLIENT.clientId,
    sub: 'ann',
    iat: now,
    exp: now + 60,
    nonce: provider.nonce,
  };
  const parts = [
    { alg: 'RS256', kid: 'a' },
    { ...claims, groups: ['staff'], email: 'ann@example.org' },
  ];
  const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${text}.${createSign('RSA-SHA256').update(text).sign(provider.signs.privateKey, 'base64url')}`;
}

const server = createServer((request, response) => {
  const issuer = `http://${request.headers.host}`;
  provider.asked.push(request.url!);
  const answers: Record<string, object> = {
    '/.well-known/openid-configuration': {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      device_authorization_endpoint: `${issuer}/device`,
      id_token_signing_alg_values_supported: ['RS256'],
    },
    '/keys': {
      keys: [{ ...published.publicKey.export({ format: 'jwk' }), kid: 'a', use: 'sig', alg: 'RS256' }],
    },
    '/token': { access_token: 'x', token_type: 'bearer', id_token: idToken(issuer) },
    '/device': {
      device_code: 'd',
      user_code: 'USER-CODE',
      verification_uri: `${issuer}/device-page`,
      expires_in: 60,
    },
  };
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(answers[request.url!] ?? {}));
}).listen(0, '127.0.0.1');
await once(server, 'listening');
after(() => {
  server.closeAllConnections();
  server.close();
});

const settings: OidcSettings = {
  ...CLIENT,
  issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  scopes: 'openid',
  groupsClaim: 'groups',
  grants: [{ group: 'staff', project: null, scopes: ['read'] }],
};

test('an ID token that another key signed is refused', async () => {
  const oidc = createOidc(settings);
  for (const [signs, isRight] of [
    [published, true],
    [other, false],
  ] as const) {
    const { checks } = await oidc.begin(PUBLIC);
    Object.assign(provider, { signs, nonce: checks.nonce });
    const finished = oidc.finish(PUBLIC, `?code=c&state=${checks.state}`, checks);
    if (isRight) assert.equal((await finished).name, 'ann@example.org');
    else await assert.rejects(finished, /The sign-in was refused/);
  }
});

test('a link does not sign a program in: a page of ours asks, and only that page begins', async (t) => {
  const { app } = await appFor(t, { settings: { oidc: settings } });
  const challenge = 'c'.repeat(43);
  const begun = await app.inject({
    url: `/login/oidc?port=4000&challenge=${challenge}`,
    headers: { host: 'echelon.test' },
  });
  assert.equal(begun.statusCode, 200);
  assert.equal(begun.headers['set-cookie'], undefined);
  assert.match(begun.body, /<form method="post" action="\/login\/oidc">/);
  assert.match(begun.body, /the code <code>cccccccc<\/code>/);
  const confirm = (headers: Record<string, string>) =>
    app.inject({
      method: 'POST',
      url: '/login/oidc',
      headers: { host: 'echelon.test', 'content-type': 'application/x-www-form-urlencoded', ...headers },
      payload: `port=4000&challenge=${challenge}`,
    });
  for (const headers of [{}, { origin: 'https://evil.example' }, { origin: 'null' }])
    assert.equal((await confirm(headers)).statusCode, 403, JSON.stringify(headers));
  const answer = await confirm({ origin: PUBLIC });
  assert.equal(answer.statusCode, 200, answer.body);
  assert.match(String(answer.headers['set-cookie']), /^echelon_oidc=/);
  assert.ok(answer.body.includes(`0;url=${settings.issuer}/authorize?`), answer.body);
});

test('an address begins a bounded number of sign-ins on other devices, and the provider is asked no more often', async (t) => {
  const { call } = await appFor(t, { settings: { oidc: settings } });
  provider.asked.length = 0;
  const statuses: number[] = [];
  for (let count = 0; count < 14; count += 1)
    statuses.push((await call('POST', '/login/device', { token: null, body: {} })).statusCode);
  assert.deepEqual(statuses, [...Array(10).fill(200), ...Array(4).fill(429)]);
  assert.equal(provider.asked.filter((path) => path === '/device').length, 10);
});
