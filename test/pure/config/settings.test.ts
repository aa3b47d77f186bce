import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  loadSettings,
  processEnvironment,
  SETTINGS,
  SettingsError,
  secretsOf,
} from '../../../src/config/settings.ts';

const problem = (environment: NodeJS.ProcessEnv): string => {
  try {
    loadSettings(environment);
  } catch (error) {
    assert.ok(error instanceof SettingsError);
    return error.message;
  }
  return assert.fail('accepted');
};

describe('settings', () => {
  test('an empty environment gives the defaults, listening on loopback only', () => {
    const settings = loadSettings({});
    assert.equal(settings.host, '127.0.0.1');
    assert.equal(settings.redisUrl, null);
    assert.equal(settings.allowUnfitRedis, false);
  });

  test('an empty variable counts as not set', () => {
    assert.equal(loadSettings({ ECHELON_PORT: '' }).port, SETTINGS.port.fallback);
  });

  test('values are read by their kind', () => {
    const settings = loadSettings({
      ECHELON_PORT: '0',
      ECHELON_TOKENS: 'token-0123456789-a, token-0123456789-b,',
      ECHELON_ALLOW_UNFIT_REDIS: 'true',
      ECHELON_LOG_LEVEL: 'debug',
    });
    assert.equal(settings.port, 0);
    assert.deepEqual(settings.tokens, ['token-0123456789-a', 'token-0123456789-b']);
    assert.equal(settings.allowUnfitRedis, true);
    assert.equal(settings.logLevel, 'debug');
  });

  test('everything that is wrong is said at once, with the variable and what it must be', () => {
    const message = problem({
      ECHELON_PORT: '70000',
      ECHELON_LEASE_MS: '1.5',
      ECHELON_LOG_LEVEL: 'loud',
      ECHELON_ALLOW_UNFIT_REDIS: 'yes',
    });
    for (const part of [
      'ECHELON_PORT must be a whole number from 0 to 65535',
      'ECHELON_LEASE_MS',
      'one of debug, info',
      'true or false',
    ])
      assert.ok(message.includes(part), message);
  });

  test('a secret may be kept in a file, which then is the only place', async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'echelon-settings-'));
    t.after(() => rm(directory, { recursive: true, force: true }));
    const file = join(directory, 'secret');
    await writeFile(file, 'first-0123456789\nsecond-0123456789\n');
    assert.deepEqual(loadSettings({ ECHELON_TOKENS_FILE: file }).tokens, [
      'first-0123456789',
      'second-0123456789',
    ]);
    assert.equal(
      loadSettings({ REDIS_PASSWORD_FILE: file }).redisPassword,
      'first-0123456789\nsecond-0123456789',
    );
    assert.match(problem({ ECHELON_TOKENS_FILE: file, ECHELON_TOKENS: 'x' }), /both set/);
    assert.match(problem({ ECHELON_TOKENS_FILE: join(directory, 'none') }), /ECHELON_TOKENS cannot be read/);
    assert.match(problem({ ECHELON_PORT_FILE: file }), /ECHELON_PORT_FILE is not a setting/);
    await writeFile(file, 'first');
    assert.doesNotMatch(problem({ ECHELON_COOKIE_SECRET_FILE: file }), /first/);
  });

  test('a token that can be guessed and an empty file of a secret are refused', async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'echelon-settings-'));
    t.after(() => rm(directory, { recursive: true, force: true }));
    const file = join(directory, 'secret');
    for (const content of ['', '\n', ',', 'short', 'token-0123456789-a,short']) {
      await writeFile(file, content);
      const message = problem({ ECHELON_TOKENS_FILE: file });
      assert.match(
        message,
        /ECHELON_TOKENS (has an empty file|holds no token|must hold tokens of at least 16)/,
      );
      assert.doesNotMatch(message, /short/);
    }
    await writeFile(file, '');
    assert.match(problem({ REDIS_PASSWORD_FILE: file }), /REDIS_PASSWORD has an empty file: .*secret/);
  });

  test('the public address is an origin', () => {
    assert.equal(loadSettings({ ECHELON_PUBLIC_URL: 'https://e.example/' }).publicUrl, 'https://e.example');
    assert.match(problem({ ECHELON_PUBLIC_URL: 'e.example' }), /http/);
  });

  test('the archive is a directory or a bucket with its keys', () => {
    const keys = { ECHELON_ARCHIVE_ACCESS_KEY: 'AK', ECHELON_ARCHIVE_SECRET_KEY: 'CANARY' };
    const place = loadSettings({ ECHELON_ARCHIVE_URL: 's3://b/p', ...keys }).archiveUrl;
    assert.deepEqual(place, { name: 'b', prefix: 'p', endpoint: null, region: 'us-east-1' });
    assert.match(
      problem({ ECHELON_ARCHIVE_URL: 'b', ...keys }),
      /ECHELON_ARCHIVE_URL must have the form s3:/,
    );
    assert.match(problem({ ECHELON_ARCHIVE_URL: 's3://b', ...keys, ECHELON_ARCHIVE_DIR: '/x' }), /both set/);
    assert.match(problem({ ECHELON_ARCHIVE_URL: 's3://b' }), /needs ECHELON_ARCHIVE_ACCESS_KEY/);
    assert.match(problem(keys), /ECHELON_ARCHIVE_URL, which is not set/);
  });

  test('a misspelt variable is refused and the nearest one named', () => {
    assert.match(
      problem({ ECHELON_PROT: '1' }),
      /ECHELON_PROT is not a setting; did you mean ECHELON_PORT\?/,
    );
  });

  test('variables of others are not ours to judge', () => {
    assert.doesNotThrow(() => loadSettings({ PATH: '/bin', ECHELON_URL: 'http://x', ECHELON_ISOLATED: '1' }));
    assert.doesNotThrow(() => loadSettings({ ECHELON_SECRETS_DIR: '/s', ECHELON_SECRET_HF_READ: 'x' }));
  });

  test('the secret ones are known by their values', () => {
    const settings = loadSettings({
      ECHELON_TOKENS: 'token-0123456789-1,token-0123456789-2',
      REDIS_URL: 'redis://h',
      ECHELON_HOST: 'h',
    });
    assert.deepEqual(secretsOf(settings), ['redis://h', 'token-0123456789-1', 'token-0123456789-2']);
  });

  test('no process that is started inherits a secret, or the name of a file with one', () => {
    const secrets = Object.values<{ variable: string; secret?: true }>(SETTINGS).filter(
      ({ secret }) => secret,
    );
    assert.ok(secrets.length > 5);
    const names = secrets.flatMap(({ variable }) => [variable, `${variable}_FILE`]);
    const set = [...names, 'ECHELON_LOG_LEVEL'];
    try {
      for (const name of set) process.env[name] = 'x';
      const inherited = processEnvironment();
      assert.deepEqual(
        names.filter((name) => name in inherited),
        [],
      );
      assert.deepEqual([inherited.ECHELON_LOG_LEVEL, inherited.PATH], ['x', process.env.PATH]);
    } finally {
      for (const name of set) delete process.env[name];
    }
  });

  test('the returned environment is a copy', () => {
    processEnvironment().ECHELON_PORT = 'x';
    assert.equal(process.env.ECHELON_PORT, undefined);
  });
});

test('the settings of the OpenID provider belong together, and a grant that cannot work is refused', () => {
  const whole = {
    ECHELON_OIDC_ISSUER: 'https://login.example.org/realms/lab',
    ECHELON_OIDC_CLIENT_ID: 'echelon',
    ECHELON_OIDC_CLIENT_SECRET: 'a secret',
    ECHELON_OIDC_GRANTS: 'ops=*:read+admin, ml=vision:read',
  };
  const { oidcIssuer, oidcGrants } = loadSettings(whole);
  assert.equal(oidcIssuer, whole.ECHELON_OIDC_ISSUER);
  assert.deepEqual(oidcGrants, [
    { group: 'ops', project: null, scopes: ['read', 'admin'] },
    { group: 'ml', project: 'vision', scopes: ['read'] },
  ]);
  for (const name of Object.keys(whole))
    assert.throws(() => loadSettings({ ...whole, [name]: '' }), /belong together/);
  const refused: [Record<string, string>, RegExp][] = [
    [{ ECHELON_OIDC_ISSUER: 'http://login.example.org' }, /must begin with https/],
    [{ ECHELON_OIDC_GRANTS: 'ml=vision:admin' }, /gives admin to a group of one project/],
    [{ ECHELON_OIDC_GRANTS: 'ml=vision:write' }, /GROUP=PROJECT:SCOPE/],
    [{ ECHELON_OIDC_GRANTS: 'ml' }, /GROUP=PROJECT:SCOPE/],
  ];
  for (const [change, words] of refused) assert.throws(() => loadSettings({ ...whole, ...change }), words);
});
