import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadSettings } from '../../src/config/settings.ts';
import { startServices } from '../../src/main.ts';
import { NO_BROWSER, openPage } from '../support/browser.ts';
import { redisFor } from '../support/redis.ts';

const body = 'document.body.innerText';
const signInWith = (token: string) =>
  `document.querySelector('#token').value = ${JSON.stringify(token)}; document.querySelector('form').requestSubmit()`;

test('a user signs in and out with the form in Chromium', { skip: NO_BROWSER }, async (t) => {
  const server = await redisFor(t);
  await using resources = new AsyncDisposableStack();
  const stateDir = await mkdtemp(join(tmpdir(), 'echelon-sign-in-'));
  resources.defer(() => rm(stateDir, { recursive: true, force: true }));
  const settings = loadSettings({ REDIS_URL: server.url, ECHELON_STATE_DIR: stateDir, ECHELON_PORT: '0' });
  const logFile = join(stateDir, 'api.log');
  const services = await startServices({ roles: ['api'], settings, redis: null, clusters: [], logFile });
  resources.defer(() => services.stop());
  const { url, token } = services as { url: string; token: string };
  const page = await openPage(resources);

  assert.equal(await page.open(`${url}/docs/`), 200);
  assert.equal(await page.value('location.pathname + location.search'), '/login?next=%2Fdocs%2F');

  assert.equal(await page.follow(signInWith('a wrong one')), 401);
  assert.match(await page.value(body), /The API key or token is invalid/);
  assert.ok(await page.value("document.querySelector('#token') !== null"));

  // Fails if the page asks for no referrer: the browser then sends `Origin: null` with the form.
  assert.equal(await page.follow(signInWith(token)), 200);
  assert.equal(await page.value('location.pathname'), '/docs/');
  assert.equal(await page.value('document.cookie'), '', 'scripts do not see the cookie');

  const signOut =
    "document.body.innerHTML = '<form method=post action=/logout></form>'; document.forms[0].requestSubmit()";
  assert.equal(await page.follow(signOut), 200);
  assert.equal(await page.value('location.pathname'), '/login');
  assert.equal(await page.open(`${url}/docs/`), 200);
  assert.equal(await page.value('location.pathname'), '/login');
});
