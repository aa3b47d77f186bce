import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadSettings } from '../../../src/config/settings.ts';
import { createHiddenValues } from '../../../src/core/hidden-values.ts';
import { startApi } from '../../../src/main/api.ts';
import { createLog } from '../../../src/observe/log.ts';
import { type Scope, storeFor } from '../../support/store.ts';

async function benchFor(scope: Scope) {
  const { store } = await storeFor(scope);
  const stateDir = await mkdtemp(join(tmpdir(), 'echelon-api-'));
  scope.after(() => rm(stateDir, { recursive: true, force: true }));
  const hidden = createHiddenValues();
  return {
    stateDir,
    hidden,
    start: (resources: AsyncDisposableStack, environment: Record<string, string> = {}) =>
      startApi({
        settings: loadSettings({ ECHELON_STATE_DIR: stateDir, ECHELON_PORT: '0', ...environment }),
        version: '1.2.3',
        queue: { enqueue: async () => {}, remove: async () => {}, queues: [] },

        verifier: {
          explain: async () => ({}),
          tokens: async () => ({}),
          rows: async () => new Uint8Array(),
          bundle: async () => new Uint8Array(),
          verifyFile: async () => ({ batches: [], steps: [] }),
        },
        log: createLog({ level: 'silent', name: 'test' }),
        store,
        hidden,
        resources,
        clock: Date,
      }),
  };
}

test('a free port, a token that is kept and hidden, a login link, and an end', async (t) => {
  const { start, stateDir, hidden } = await benchFor(t);
  await using resources = new AsyncDisposableStack();
  const { url, token, loginUrl } = await start(resources);
  assert.doesNotMatch(url, /:0$/);
  assert.equal(token, (await readFile(join(stateDir, 'token'), 'utf8')).trim());
  const cookieSecret = (await readFile(join(stateDir, 'cookie-secret'), 'utf8')).trim();
  for (const secret of [token, cookieSecret, new URL(loginUrl).searchParams.get('code')!])
    assert.ok(!hidden.redact(`shows ${secret} here`).includes(secret));
  const headers = { authorization: `Bearer ${token}` };
  const answered = await fetch(`${url}/v1/experiments`, { headers });
  assert.equal(answered.status, 200);
  assert.ok(loginUrl.startsWith(`${url}/login?code=`));
  await resources.disposeAsync();
  await assert.rejects(fetch(`${url}/healthz`));
  await using again = new AsyncDisposableStack();
  assert.equal((await start(again)).token, token);
});

test('tokens and the address of the settings are taken as they are', async (t) => {
  const { start } = await benchFor(t);
  await using resources = new AsyncDisposableStack();
  const { url, token } = await start(resources, {
    ECHELON_TOKENS: 'token-of-the-settings-0123456789',
    ECHELON_PUBLIC_URL: 'https://echelon.example.test',
  });
  assert.equal(url, 'https://echelon.example.test');
  assert.equal(token, 'token-of-the-settings-0123456789');
});
