import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { seriousFindings } from '../../support/axe.ts';
import { NO_BROWSER, openBrowser, openPage, signIn, type WatchedPage } from '../../support/browser.ts';
import { type Installation, startInstallation } from '../../support/dashboard.ts';
import { until } from '../../support/dispatch.ts';
import { assertFitsNarrowScreen } from '../../support/narrow-screen.ts';

const SPEC = `# a comment
name: from the page
engine: replay
replay:
  batches: 1
  logLines: -1
`;

describe('the Submit screen in Chromium', { skip: NO_BROWSER }, () => {
  const resources = new AsyncDisposableStack();
  let installation: Installation;
  let browser: Browser;
  let watched: WatchedPage;
  let page: Page;
  const scripts: string[] = [];

  before(async () => {
    [installation, browser] = await Promise.all([startInstallation(resources), openBrowser(resources)]);
    watched = await openPage(browser, { ignored: /status of 40[01]/ });
    page = watched.page;
    page.on('request', (request) => request.url().endsWith('.js') && scripts.push(request.url()));
    await signIn(page, installation.url, installation.token, '/queue');
    await page.getByText('Nothing is queued').waitFor();
  });
  after(() => resources.disposeAsync());

  test('a spec in YAML goes from its problems over plan, preflight and start to the experiment', async () => {
    assert.ok(
      !scripts.some((url) => url.includes('read-yaml')),
      'the reader of YAML is loaded on other screens',
    );
    await page.goto(`${installation.url}/submit`);
    const editor = page.getByLabel('Spec, as YAML or JSON');
    await editor.fill(SPEC);
    const submit = page.getByRole('button', { name: 'Submit', exact: true });
    const problem = page.getByRole('list', { name: 'Problems' }).getByRole('listitem');
    await problem.getByText('/replay/logLines').waitFor();
    assert.equal(await submit.isDisabled(), true);
    assert.equal(await page.locator('.gutter .bad').textContent(), '6');
    await problem.getByRole('button', { name: 'line 6' }).click();
    const selected = await editor.evaluate(
      ({
        value,
        selectionStart,
        selectionEnd,
      }: {
        value: string;
        selectionStart: number;
        selectionEnd: number;
      }) => value.slice(selectionStart, selectionEnd),
    );
    assert.equal(selected, '  logLines: -1');
    await page.keyboard.type('  logLines: 2');
    await page.getByText('The spec is valid.').waitFor();
    await page.getByText('It would start now.').waitFor();
    await page.getByText('No queued experiment would start later.').waitFor();
    await page.getByRole('button', { name: 'Run the preflight' }).click();
    await page.getByText(/\d+ checks? on local: \d+ errors?, \d+ warnings?\./).waitFor({ timeout: 20_000 });
    assert.deepEqual(await seriousFindings(page), []);
    assert.equal((await installation.client.get('/v1/experiments')).items.length, 0);
    await page.getByRole('button', { name: /^Submit/ }).click();
    await page.waitForURL(/\/experiments\/exp-/);
    const id = new URL(page.url()).pathname.split('/').at(-1)!;
    const { submitted } = await installation.client.get('/v1/experiments/{id}', { path: { id } });
    const spec = { name: 'from the page', engine: 'replay', replay: { batches: 1, logLines: 2 } };
    assert.deepEqual(submitted, spec);
    assert.ok(scripts.some((url) => url.includes('read-yaml')));
    await page.goto(`${installation.url}/submit?from=${id}`);
    const copied = async () =>
      /from the page[\s\S]*^replay:\n {2}batches: 1$/m.test(await editor.inputValue());
    await until(copied, 'the editor has a copy of the spec');
    assert.deepEqual(watched.problems, []);
  });

  test('JSON is accepted, and a text that is no YAML names its line', async () => {
    await page.goto(`${installation.url}/submit`);
    const editor = page.getByLabel('Spec, as YAML or JSON');
    await editor.fill('{"name": "as JSON",\n "engine": "replay"}');
    await page.getByText('The spec is valid.').waitFor();
    await editor.fill('name: a\nname: b\n');
    await page.getByRole('button', { name: 'line 2' }).waitFor();
    await editor.fill('{"engine": "replay",\n "K": 1}');
    await page.getByRole('button', { name: 'line 2' }).waitFor();
    await page.locator('.findings').getByText('/K').waitFor();
    assert.deepEqual(watched.problems, []);
  });

  test('the screen fits 390 pixels, light and dark, without a serious finding of axe', async () => {
    await assertFitsNarrowScreen(browser, { ...installation, path: '/submit' }, (own) =>
      own.getByText('It would start').waitFor(),
    );
  });
});
