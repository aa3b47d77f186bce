import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadSettings } from '../../../src/config/settings.ts';
import { startServices } from '../../../src/main.ts';
import { NO_BROWSER, openBrowser, openPage } from '../../support/browser.ts';
import { redisFor } from '../../support/redis.ts';

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
  const browser = await openBrowser(resources);
  const { page, problems } = await openPage(browser, { ignored: /status of 401/ });
  const refused: string[] = [];
  page.on('response', (response) => {
    if (response.status() >= 400) refused.push(new URL(response.url()).pathname);
  });
  await page.addInitScript(
    "addEventListener('DOMContentLoaded', () => { window.focusedAtFirst = document.activeElement.id })",
  );
  const pathOf = () => new URL(page.url()).pathname + new URL(page.url()).search;

  assert.equal((await page.goto(`${url}/docs/`))?.status(), 200);
  assert.equal(pathOf(), '/login?next=%2Fdocs%2F');
  // Fails if the field gets the focus only when the page is first drawn: keys typed before that are lost.
  assert.equal(await page.evaluate('focusedAtFirst'), 'token');

  const submit = async (text: string) => {
    await page.fill('#token', text);
    const answer = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.click('button');
    return (await answer).status();
  };
  assert.equal(await submit('a wrong one'), 401);
  await page.getByText('The API key or token is invalid').waitFor();

  // Fails if the page asks for no referrer: the browser then sends `Origin: null` with the form.
  assert.equal(await submit(token), 303);
  await page.waitForURL(`${url}/docs/`);
  assert.equal(await page.evaluate('document.cookie'), '', 'scripts do not see the cookie');

  await page.goto(`${url}/`);
  await page.locator('.caller summary').click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(`${url}/login`);
  await page.goto(`${url}/docs/`);
  assert.equal(pathOf(), '/login?next=%2Fdocs%2F');
  assert.deepEqual([refused, problems], [['/login'], []]);
});
