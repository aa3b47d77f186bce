import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { channelCredentials, credentialsFromEnvironment } from '../src/credentials.ts';

const files = (contents: Record<string, string>) => ({
  home: () => '/home/u',
  read: (path: string) => {
    const text = contents[path];
    if (text === undefined) throw new Error('ENOENT');
    return text;
  },
});

describe('credentialsFromEnvironment', () => {
  test('a token in the environment comes before a token file, trimmed', () => {
    const all = files({ '/t': 'from path', '/home/u/.ray/auth_token': 'from home' });
    const environment = { RAY_AUTH_TOKEN: ' direct\n', RAY_AUTH_TOKEN_PATH: '/t' };
    assert.deepEqual(credentialsFromEnvironment(environment, all), { token: 'direct' });
    assert.deepEqual(credentialsFromEnvironment({ RAY_AUTH_TOKEN_PATH: '/t' }, all), { token: 'from path' });
    assert.deepEqual(credentialsFromEnvironment({}, all), { token: 'from home' });
  });

  test('nothing configured is no credentials', () => {
    assert.deepEqual(credentialsFromEnvironment({}, files({})), {});
    assert.deepEqual(credentialsFromEnvironment({ RAY_USE_TLS: '0' }, files({})), {});
  });

  test('a named file that is missing or empty is an error', () => {
    assert.throws(
      () => credentialsFromEnvironment({ RAY_AUTH_TOKEN_PATH: '/no' }, files({})),
      /\/no cannot be read/,
    );
    assert.throws(
      () => credentialsFromEnvironment({ RAY_AUTH_TOKEN_PATH: '/e' }, files({ '/e': ' ' })),
      /is empty/,
    );
  });

  test('TLS takes three files, and all of them', () => {
    const environment = {
      RAY_USE_TLS: '1',
      RAY_TLS_CA_CERT: '/ca',
      RAY_TLS_SERVER_CERT: '/cert',
      RAY_TLS_SERVER_KEY: '/key',
    };
    const pem = files({ '/ca': 'CA', '/cert': 'CERT', '/key': 'KEY' });
    assert.deepEqual(credentialsFromEnvironment(environment, pem).tls, {
      ca: 'CA',
      cert: 'CERT',
      key: 'KEY',
    });
    assert.throws(
      () => credentialsFromEnvironment({ ...environment, RAY_TLS_SERVER_KEY: undefined }, pem),
      /RAY_TLS_SERVER_KEY is not/,
    );
    assert.throws(() => credentialsFromEnvironment(environment, files({ '/ca': 'CA' })), /cannot be read/);
  });
});

test('a channel is plain without TLS and secure with it', () => {
  assert.equal(channelCredentials(undefined)._isSecure(), false);
  assert.equal(channelCredentials({})._isSecure(), true);
});
