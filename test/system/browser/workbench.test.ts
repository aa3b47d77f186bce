import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { seriousFindings } from '../../support/axe.ts';
import { NO_BROWSER, openBrowser, openPage, signIn, type WatchedPage } from '../../support/browser.ts';
import { type BusyScene, startBusyScene } from '../../support/busy-scene.ts';
import { faultsOfScreens, openScreen, VIEWS } from '../../support/screens.ts';

describe('the dashboard of a busy installation in Chromium', { skip: NO_BROWSER }, () => {
  const resources = new AsyncDisposableStack();
  let scene: BusyScene;
  let browser: Browser;
  let watched: WatchedPage;
  let page: Page;

  before(async () => {
    [scene, browser] = await Promise.all([startBusyScene(resources, 300), openBrowser(resources)]);
    watched = await openPage(browser, {
      viewport: { width: 1440, height: 1080 },
      ignored: /status of 40[14]/,
    });
    page = watched.page;
    await signIn(page, scene.url, scene.token, '/experiments');
  });
  after(() => resources.disposeAsync());

  const open = (path: string) => openScreen(page, `${scene.url}${path}`);

  const titles = () => page.locator('.experiments thead th').allInnerTexts();
  const names = () => page.locator('.experiments .name').allInnerTexts();

  test('the list shows active experiments first, 30 on a screen, and searches while the user types', async () => {
    await open('/experiments');
    const states = await page.locator('.experiments .badge').allInnerTexts();
    const firstEnded = states.findIndex((state) => /succeeded|failed|cancelled/.test(state));
    assert.ok(
      states.slice(0, firstEnded < 0 ? states.length : firstEnded).some((state) => state === 'running'),
    );
    assert.match(states[0]!, /^running/);
    const box = (await page.locator('.view').boundingBox())!;
    const rows = await page.locator('.experiments tbody tr:not(.space)').all();
    const inView = await Promise.all(
      rows.map(async (row) => (await row.boundingBox())!.y < box.y + box.height),
    );
    assert.ok(inView.filter(Boolean).length >= 30, `${inView.filter(Boolean).length} rows`);
    await page.locator('[data-filter]').pressSequentially('baseline 29');
    await page.waitForURL(/search=baseline\+?(%20)?29/);
    await page.getByText('11 match').or(page.getByText('11 of 11')).waitFor();
    assert.ok((await names()).every((name) => /baseline 29/.test(name)));
    assert.deepEqual(watched.problems, []);
  });

  test('columns, order and groups of the list are chosen by the user and kept in the address', async () => {
    await open('/experiments');
    await page.getByText('Columns', { exact: true }).click();
    await page.getByLabel('val/success_rate', { exact: true }).check();
    await page.getByLabel('Cluster', { exact: true }).uncheck();
    const shown = await titles();
    assert.ok(shown.includes('val/success_rate') && !shown.includes('Cluster'), shown.join());
    await page.getByRole('button', { name: 'val/success_rate', exact: true }).click();
    await page.waitForURL(/sort=-metric/);
    await page.locator('th[aria-sort="descending"]').waitFor();
    const at = shown.indexOf('val/success_rate') + 1;
    const values = async () =>
      (await page.locator(`.experiments tbody td:nth-child(${at})`).allInnerTexts()).map(Number);
    await page.waitForFunction(
      `document.querySelector('.experiments tbody td:nth-child(${at})').innerText.startsWith('0.9')`,
    );
    const found = (await values()).filter((value) => Number.isFinite(value));
    assert.deepEqual(
      found,
      found.toSorted((a, b) => b - a),
    );
    await page.getByLabel('Group by').selectOption('owner');
    await page.locator('.experiments .above').first().waitFor();
    await page.evaluate('localStorage.clear()');
  });

  test('several selected experiments are tagged at once, and compared', async () => {
    await open('/experiments?search=baseline 10&columns=name,status');
    const boxes = page.locator('.experiments input[type=checkbox]');
    await boxes.nth(0).check();
    await boxes.nth(1).check();
    await page.getByText('2 experiments selected').waitFor();
    await page.getByRole('button', { name: 'Tag' }).click();
    await page.locator('dialog input').fill('paper');
    assert.deepEqual(await seriousFindings(page), []);
    await page.getByRole('button', { name: 'Add the tag' }).click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    const { items } = await scene.client.get('/v1/experiments', { query: { tag: 'paper' } });
    assert.equal(items.length, 2);
    await open(`/experiments/${items[0]!.id}`);
    await page.locator('.tag', { hasText: 'paper' }).waitFor();
  });

  test('a failed experiment opens at the last error line of its log', async () => {
    await open(`/experiments/${scene.failed}`);
    await page.locator('.log .asked', { hasText: 'torch.OutOfMemoryError' }).waitFor();
    await page.getByLabel('Stream').selectOption('stderr');
    await page.getByText('3 lines fit the filter').waitFor();
    await page.getByRole('button', { name: 'Wrap' }).click();
    assert.deepEqual(watched.problems, []);
  });

  test('curves are found by a regular expression, smoothed, compared in place and saved as CSV', async () => {
    await open(`/experiments/${scene.running}`);
    await page.locator('[data-filter]').fill('loss$');
    await page.locator('.charts > .card').nth(2).waitFor({ state: 'detached' });
    const shown = await page.locator('.charts h2').allInnerTexts();
    assert.deepEqual(shown.sort(), ['actor/entropy_loss', 'actor/kl_loss']);
    await page.getByRole('button', { name: 'Log scale' }).click();
    await page.getByLabel('Smooth').selectOption('0.9');
    await page.getByLabel('Compare with').fill(scene.failed);
    await page.waitForURL(/with=exp-/);
    await page.locator('.in-numbers summary').first().click();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save as CSV' }).first().click();
    assert.match((await download).suggestedFilename(), /^actor-(entropy|kl)_loss\.csv$/);
    assert.deepEqual(watched.problems, []);
  });

  test('combinations of a sweep are named by what differs, sorted by a click, and listed with their best', async () => {
    await open('/sweeps');
    await page.getByText('36 of 48 ended').or(page.getByText('31 of 48 ended')).waitFor();
    await page.getByText(/hgpo, K=\d, lr=0\.01/).waitFor();
    await open(`/sweeps/${scene.sweep}`);
    await page.locator('.parallel polyline').first().waitFor();
    assert.equal(await page.locator('.parallel polyline').count(), 12);
    await page.getByRole('button', { name: 'K', exact: true }).click();
    await page.locator('th[aria-sort="ascending"]').waitFor();
    assert.ok(!(await page.locator('main').textContent())!.includes('{"'));
    assert.deepEqual(watched.problems, []);
  });

  test('a label of a bar in the queue is shown if it fits, and whiskers only at the bar that is pointed at', async () => {
    await open('/queue');
    const bars = page.locator('.track .bar');
    assert.ok((await bars.count()) >= 40, `${await bars.count()} bars`);
    const cut = await page.evaluate(`[...document.querySelectorAll('.track .bar')].filter((bar) => {
      const [box, label] = [bar.getBoundingClientRect(), bar.firstElementChild.getBoundingClientRect()];
      return label.top < box.bottom - 4 && label.right > box.right + 1;
    }).length`);
    assert.equal(cut, 0);
    assert.equal(await page.locator('.whisker:visible').count(), 1);
    await bars.last().hover();
    await page.locator('.facts-line strong').waitFor();
  });

  test('the palette goes to an experiment by a part of its name, and the key ? lists the keys', async () => {
    await open('/');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('K=4, Qwen2.5 7B');
    await page.getByRole('option', { name: /hgpo K=4, Qwen2.5 7B/ }).waitFor();
    assert.deepEqual(await seriousFindings(page), []);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${scene.url}/experiments/${scene.failed}`);
    await page.keyboard.press('?');
    await page.getByText('previous and next row of a heat map').waitFor();
    assert.deepEqual(await seriousFindings(page), []);
    await page.keyboard.press('Escape');
  });

  test('an address without a screen leads back, and the board asks no other host', async () => {
    const answer = await page.goto(`${scene.url}/nowhere`);
    assert.equal(answer!.status(), 404);
    await page.getByRole('link', { name: 'Open the dashboard' }).click();
    await page.locator('h1', { hasText: 'Now' }).waitFor();
    await open('/experiments/exp-00000000000000000000');
    await page.getByRole('link', { name: 'Show all experiments' }).waitFor();
    const foreign: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(scene.url)) foreign.push(request.url());
    });
    await page.goto(`${scene.url}/queues`);
    await page.locator('#root > *').first().waitFor({ state: 'attached' });
    assert.deepEqual(foreign, []);
    watched.problems.length = 0;
  });

  test('a sweep is submitted from a template, and a key is made', async () => {
    await open('/submit');
    await page.getByLabel('Begin with').selectOption('sweep');
    await page.getByText('The sweep is valid: 6 children').waitFor();
    await page.locator('.steps-list').getByRole('button', { name: 'Submit', exact: true }).click();
    await page.waitForURL(/\/sweeps\/swp-/);
    await open('/access');
    await page.getByRole('button', { name: 'New key' }).click();
    await page.locator('dialog input').first().fill('of a test');
    assert.deepEqual(await seriousFindings(page), []);
    await page.getByRole('button', { name: 'Make the key' }).click();
    await page.getByText('it is not shown again').waitFor();
    await open('/system');
    await page.getByText('Redis memory').waitFor();
  });

  test('no screen moves while it loads, cuts a badge, has a finding of axe, or is wider than the window, light and dark', async () => {
    assert.deepEqual(await faultsOfScreens(browser, scene, VIEWS), []);
  });
});
