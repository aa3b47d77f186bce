import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loadSettings, processEnvironment, SETTINGS, SettingsError } from '../../../src/config/settings.ts';

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
      ECHELON_TOKENS: 'a, b,',
      ECHELON_ALLOW_UNFIT_REDIS: 'true',
      ECHELON_LOG_LEVEL: 'debug',
    });
    assert.equal(settings.port, 0);
    assert.deepEqual(settings.tokens, ['a', 'b']);
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

  test('a misspelt variable is refused and the nearest one named', () => {
    assert.match(
      problem({ ECHELON_PROT: '1' }),
      /ECHELON_PROT is not a setting; did you mean ECHELON_PORT\?/,
    );
  });

  test('variables of others are not ours to judge', () => {
    assert.doesNotThrow(() => loadSettings({ PATH: '/bin', ECHELON_URL: 'http://x', ECHELON_ISOLATED: '1' }));
  });

  test('the environment that is handed out is a copy', () => {
    processEnvironment().ECHELON_PORT = 'x';
    assert.equal(process.env.ECHELON_PORT, undefined);
  });
});
