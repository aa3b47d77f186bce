import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { seriousFindings } from '../../support/axe.ts';
import { NO_BROWSER, openBrowser, openPage, signIn } from '../../support/browser.ts';
import { type Installation, startInstallation } from '../../support/dashboard.ts';

/** What each screen of a project without experiments says to do first. */
const FIRST_STEPS: [path: string, text: RegExp][] = [
  ['/', /No experiment yet[\s\S]*Run the replay/],
  ['/experiments', /No experiment yet[\s\S]*Run the replay/],
  ['/sweeps', /No sweep yet[\s\S]*echelon sweeps submit FILE/],
  ['/comparisons', /No comparison yet[\s\S]*echelon comparison submit/],
  ['/compare', /Choose two experiments[\s\S]*list of experiments/],
  ['/queue', /Nothing is queued[\s\S]*Submit an experiment/],
  ['/rules', /No rule has fired\. Add presets to a spec/],
  ['/notifications', /No subscription yet[\s\S]*echelon notify add --project empty/],
];
const BY_ITSELF = 'The page asks again by itself';

describe('the dashboard when something fails, in Chromium', { skip: NO_BROWSER }, () => {
  const resources = new AsyncDisposableStack();
  let installation: Installation;
  let browser: Browser;

  before(async () => {
    [installation, browser] = await Promise.all([startInstallation(resources), openBrowser(resources)]);
    await installation.client.post('/v1/projects', { body: { name: 'empty' } });
  });
  after(() => resources.disposeAsync());

  /** A page that is signed in as the installation's operator, or with a key. */
  async function openAt(path: string, token = installation.token): Promise<Page> {
    const { page } = await openPage(browser, { viewport: { width: 1280, height: 800 } });
    resources.defer(() => page.context().close());
    await signIn(page, installation.url, token, path);
    return page;
  }

  const keyOf = (project: string, scopes: ('read' | 'submit')[]) =>
    installation.client.post('/v1/keys', { body: { name: `of ${project}`, project, scopes } });

  test('each screen of an empty project says what to do first', async () => {
    const page = await openAt('/', (await keyOf('empty', ['read', 'submit'])).token);
    for (const [path, text] of FIRST_STEPS) {
      await page.goto(`${installation.url}${path}`);
      await page.locator('main').getByText(text.source.split(/[[\\]/)[0]!).first().waitFor();
      assert.match((await page.locator('main').textContent())!, text, path);
    }
  });

  test('in a project with one failed run, the first screen, the list and the run say why it failed', async () => {
    const { client, url } = installation;
    const body = {
      name: 'fails',
      engine: 'replay',
      replay: { batches: 1, exitCode: 3, logLines: 2 },
    } as never;
    const { id } = await client.post('/v1/experiments', { body });
    const path = { id };
    while ((await client.get('/v1/experiments/{id}', { path })).state !== 'failed')
      await new Promise((resolve) => setTimeout(resolve, 100));
    const page = await openAt('/');
    const entry = page.locator('.entries li', { has: page.locator(`a[href="/experiments/${id}"]`) });
    await entry.getByText(/exit code 3/).waitFor();
    await page.goto(`${url}/experiments`);
    await page.locator('.badge.s-failed').waitFor();
    await page.locator(`a[href="/experiments/${id}"]`).click();
    await page.locator('.reason-line', { hasText: 'exit code 3' }).waitFor();
    await page.locator('a[aria-current]', { hasText: 'Logs' }).waitFor();
    await page.getByRole('link', { name: 'Attempts' }).click();
    await page.locator('td', { hasText: /exit code 3/ }).waitFor();
  });

  test('while the api is away an open page keeps its data, says how old they are, and recovers by itself', async () => {
    const pages = [await openAt('/experiments'), await openAt('/clusters')];
    await pages[0]!.locator('.experiments .name').first().waitFor();
    await pages[1]!.locator('.nodes li').first().waitFor();
    await installation.stopServices();
    // The list is read again when the user asks for another order; the clusters by themselves.
    await pages[1]!.getByText(/^Not refreshed since \d\d:\d\d: The Echelon server does not answer/).waitFor();
    await pages[1]!.getByText(BY_ITSELF).first().waitFor();
    assert.ok(await pages[1]!.locator('.nodes li').first().isVisible());
    await pages[0]!.getByText('The event stream is interrupted').waitFor();
    assert.ok(await pages[0]!.locator('.experiments .name').first().isVisible());
    await pages[0]!.getByRole('button', { name: 'Submitted' }).click();
    await pages[0]!.getByText('The Echelon server does not answer').waitFor();
    assert.deepEqual(await seriousFindings(pages[1]!), []);
    await installation.startServices();
    await pages[0]!.locator('.experiments .name').first().waitFor();
    await pages[1]!.getByText('Not refreshed').waitFor({ state: 'detached' });
    for (const page of pages) await page.getByText('Live', { exact: true }).waitFor();
  });

  test('while Redis is away the page says so, with the remedy of the api, and recovers by itself', async () => {
    const [page, idle, reloaded] = [
      await openAt('/clusters'),
      await openAt('/'),
      await openAt('/experiments'),
    ];
    await page.locator('.nodes li').first().waitFor();
    await installation.redis.kill();
    await page.getByText(/^Not refreshed since .*(Redis|store)/i).waitFor();
    // A screen that asks for nothing says it too, and one that is opened now is a page, not a problem document.
    await idle.getByText('What you see may be old').waitFor();
    const answer = (await reloaded.reload())!;
    assert.equal(answer.status(), 503);
    assert.match(
      await answer.text(),
      /Echelon cannot answer now[\s\S]*(Redis cannot be reached|The store did not answer)/,
    );
    await installation.redis.start();
    await reloaded.getByRole('heading', { name: 'Experiments' }).waitFor();
    await idle.getByText('What you see may be old').waitFor({ state: 'detached' });
    await page.getByText('Not refreshed').waitFor({ state: 'detached' });
    await page.locator('.nodes li').first().waitFor();
  });

  test('when the key of an open page is revoked, the page says so, keeps what it shows, and leads to the sign-in', async () => {
    const { key, token } = await keyOf('default', ['read']);
    const page = await openAt('/experiments', token);
    await page.locator('.experiments .name').first().waitFor();
    await installation.client.delete('/v1/keys/{id}', { path: { id: key.id } });
    const banner = page.getByRole('alert');
    await banner.getByText('Your session has ended').waitFor();
    assert.ok(await page.locator('.experiments .name').first().isVisible());
    assert.deepEqual(await seriousFindings(page), []);
    await banner.getByRole('link', { name: 'Sign in again' }).click();
    await page.waitForURL(/\/login\?next=%2Fexperiments/);
    await page.fill('#token', installation.token);
    await page.click('button');
    await page.locator('.experiments .name').first().waitFor();
  });
});
