import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadSettings } from '../../../src/config/settings.ts';
import { hiddenValues, hideTokens } from '../../../src/main/hide-secrets.ts';
import { clusterRecord, storeFor } from '../../support/store.ts';

test('secrets of the settings, the password in an address and tokens of clusters do not show', () => {
  const settings = loadSettings({
    ECHELON_TOKENS: 'token-of-the-settings-0123456789',
    REDIS_URL: 'redis://user:pass%2Fword-1@example.test:6379',
  });
  const hidden = hiddenValues(settings, [
    { name: 'a', address: 'a:1', token: 'plain-first-value' },
    { name: 'b', rayAddress: 'ray://b:1', rayToken: 'plain-second-value', rayTls: null, sharedRoot: '/s' },
  ]);
  const shown = hidden.redact(
    'token-of-the-settings-0123456789 pass/word-1 plain-first-value plain-second-value and no more',
  );
  assert.doesNotMatch(shown, /0123456789|word-1|plain/);
  assert.match(shown, /and no more/);
});

test('so do those of clusters that the store names later', async (t) => {
  const { store: plain } = await storeFor(t);
  const hidden = hiddenValues(loadSettings({}), []);
  const store = hideTokens(plain, hidden);
  await store.clusters.put(clusterRecord({ name: 'a', address: 'a:1', token: 'plain-later-value' }));
  assert.match(hidden.redact('plain-later-value'), /plain-later-value/);
  assert.equal((await store.clusters.list()).length, 1);
  assert.doesNotMatch(hidden.redact('plain-later-value'), /plain/);
});
