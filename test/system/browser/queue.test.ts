import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { seriousFindings } from '../../support/axe.ts';
import { NO_BROWSER, openBrowser, openPage, signIn, type WatchedPage } from '../../support/browser.ts';
import { assertFitsNarrowScreen } from '../../support/narrow-screen.ts';
import { gpuSpec, type QueueScene, startQueueScene } from '../../support/queue-scene.ts';

describe('the Queue screen in Chromium', { skip: NO_BROWSER }, () => {
  const resources = new AsyncDisposableStack();
  let scene: QueueScene;
  let browser: Browser;
  let watched: WatchedPage;
  let page: Page;
  let head: string;

  before(async () => {
    [scene, browser] = await Promise.all([startQueueScene(resources), openBrowser(resources)]);
    const { client } = scene;
    await client.post('/v1/projects', { body: { name: 'vision' } });
    const hour = { sinceMs: 1_800_000, timeoutSeconds: 3600 };
    await scene.run({ name: 'first', node: 'gpu-a', gpus: 4, ...hour });
    await scene.run({ name: 'second', node: 'gpu-b', gpus: 6, ...hour });
    const submit = async (...spec: Parameters<typeof gpuSpec>) =>
      (await client.post('/v1/experiments', { body: gpuSpec(...spec) })).id;
    head = await submit('large', 8, { priority: 5, timeoutSeconds: 600 });
    await submit('of vision', 8, { timeoutSeconds: 600, project: 'vision' });
    await submit('small', 4, { timeoutSeconds: 600 });
    await submit('without timeout', 8);
    await submit('last', 8, { timeoutSeconds: 600 });
    await scene.round();
    watched = await openPage(browser, { viewport: { width: 1280, height: 800 }, ignored: /status of 401/ });
    page = watched.page;
    await signIn(page, scene.url, scene.token, '/queue');
  });
  after(() => resources.disposeAsync());

  async function open(own = page): Promise<void> {
    await scene.round();
    await own.goto(`${scene.url}/queue`);
    await own.locator('.track .bar').first().waitFor();
  }

  test('every allocation and every estimated start is a bar, at the times of the API', async () => {
    await open();
    const { items } = await scene.client.get('/v1/queues');
    const { items: allocated } = await scene.client.get('/v1/allocations');
    const placed = items.filter(({ place }) => place !== null);
    assert.ok(placed.length >= 3);
    assert.equal(await page.locator('.bar.running').count(), allocated.length);
    assert.equal(
      await page.locator('.bar.queued').count(),
      placed.reduce((sum, { place }) => sum + place!.nodes.length, 0),
    );
    assert.equal(await page.locator('.bar.reserved').getAttribute('href'), `/experiments/${head}`);
    const left = async (selector: string) => (await page.locator(selector).first().boundingBox())!.x;
    assert.ok((await left('.bar.running')) < (await left('.now-line')));
    assert.ok((await left('.bar.queued')) >= (await left('.now-line')));
    // The axis is linear: the bars are as far apart as their starts.
    const [a, b] = [
      placed[0]!,
      placed.find(({ estimate }) => estimate!.startAt !== placed[0]!.estimate!.startAt)!,
    ];
    const barOf = async (id: string) => (await page.locator(`.bar[href$="${id}"]`).first().boundingBox())!;
    const [first, second] = [await barOf(a.experiment), await barOf(b.experiment)];
    const perMs = first.width / (a.place!.endAt! - a.estimate!.startAt);
    const apart = (b.estimate!.startAt - a.estimate!.startAt) * perMs;
    assert.ok(Math.abs(second.x - first.x - apart) < 3, `${second.x - first.x} instead of ${apart}`);
    await page.getByText('In numbers').click();
    assert.equal(
      await page.locator('.in-numbers tbody tr').count(),
      await page.locator('.track .bar').count(),
    );
    const unknown = items.filter(({ place }) => place === null).map(({ name }) => name);
    assert.deepEqual(await page.locator('.unplaced a').allInnerTexts(), unknown);
    assert.deepEqual(watched.problems, []);
  });

  test('with the keyboard alone, arrow keys go from bar to bar, which say why, and Enter opens one', async () => {
    await open();
    const focused = () =>
      page.evaluate('document.activeElement.getAttribute("aria-label")') as Promise<string>;
    for (let presses = 0; presses < 60; presses += 1) {
      await page.keyboard.press('Tab');
      if (await page.evaluate('document.activeElement.matches(".bar")')) break;
    }
    assert.match(await focused(), /^first, running since .* Expected end/);
    await page.keyboard.press('ArrowRight');
    const label = await focused();
    assert.match(
      label,
      /^large, queued at position 1\. Estimated start .* reserved.* Why not now: needs 8 GPUs/,
    );
    const shown = await page.locator('.facts-line').textContent();
    assert.ok(shown!.includes('Why not now: needs 8 GPUs'), shown!);
    await page.keyboard.press('ArrowDown');
    assert.match(await focused(), /^(second|small|of vision), /);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/experiments\/exp-/);
    assert.deepEqual(watched.problems, []);
  });

  test('a new priority is shown with its effects before it is made', async () => {
    await open();
    const { items } = await scene.client.get('/v1/queues');
    const last = items.find(({ name }) => name === 'last')!;
    const asked = { body: { experiment: last.experiment, priority: 9 } };
    const { later } = await scene.client.post('/v1/queues/what-if', asked);
    assert.ok(later >= 2);
    await page.getByRole('button', { name: 'Priority 0 of last: change' }).click();
    const change = page.getByRole('button', { name: 'Change the priority' });
    assert.equal(await change.isDisabled(), true);
    await page.locator('dialog input').fill('9');
    await page.getByText(`${later} queued experiments would start later.`).waitFor();
    await page.getByText(/^It would start in about .* at position 1 on /).waitFor();
    assert.deepEqual(await seriousFindings(page), []);
    const priorityOf = async () =>
      (await scene.client.get('/v1/experiments/{id}', { path: { id: last.experiment } })).priority;
    assert.equal(await priorityOf(), 0);
    await change.click();
    await page.getByRole('button', { name: 'Priority 9 of last: change' }).waitFor();
    assert.equal(await priorityOf(), 9);
    assert.deepEqual(watched.problems, []);
  });

  test('the queue of one project is paused and resumed after a question that names the number', async () => {
    await open();
    await page.locator('.head').getByRole('button', { name: 'Pause', exact: true }).click();
    const dialog = page.locator('dialog');
    await dialog.getByText('5 queued experiments will not start').waitFor();
    await dialog.locator('select').selectOption('vision');
    await dialog.getByText('1 queued experiment will not start').waitFor();
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByText('The queue of project vision is paused').waitFor();
    assert.deepEqual([...(await scene.store.queue.pauses()).projects.keys()], ['vision']);
    await page.getByRole('button', { name: 'Resume vision' }).click();
    await dialog.getByRole('button', { name: 'Resume', exact: true }).click();
    await page.getByText('The queue of project vision is paused').waitFor({ state: 'detached' });
    assert.deepEqual(watched.problems, []);
  });

  test('the screen fits 390 pixels, light and dark, without a serious finding of axe', async () => {
    await scene.round();
    await assertFitsNarrowScreen(browser, { ...scene, path: '/queue' }, async (own, width) => {
      await own.locator('.track .bar').first().waitFor();
      const track = (await own.locator('.track').first().boundingBox())!;
      assert.ok(track.width > 300 && track.x + track.width <= width);
      const labels = await own.locator('.axis .tick').all();
      const boxes = await Promise.all(labels.map(async (label) => (await label.boundingBox())!));
      assert.ok(boxes.length >= 2);
      for (const { x, width: of } of boxes) assert.ok(x >= track.x && x + of <= track.x + track.width);
    });
  });

  test('a key of a project sees the bars of its project, and no button that it may not use', async () => {
    const { token } = await scene.client.post('/v1/keys', {
      body: { name: 'of vision', project: 'vision', scopes: ['read'] },
    });
    const { page: own, problems } = await openPage(browser, { ignored: /status of 401/ });
    await signIn(own, scene.url, token, '/queue');
    await open(own);
    assert.deepEqual(await own.locator('.track .bar').allInnerTexts(), ['of vision']);
    assert.equal(await own.getByRole('button', { name: /Pause|Drain|Priority/ }).count(), 0);
    const content = await own.content();
    for (const name of ['without timeout', 'large']) assert.ok(!content.includes(name), name);
    assert.deepEqual(problems, []);
    await own.context().close();
  });

  test('without a dispatcher, Now and Queue say that nothing starts and how old their values are', async () => {
    for (const id of await scene.redis.zrange('{echelon}:leases', '0', '-1'))
      await scene.redis.zadd('{echelon}:leases', 0, id);
    for (const path of ['/', '/queue']) {
      await page.goto(scene.url + path);
      const banner = page.getByRole('alert');
      await banner.getByText('No dispatcher is connected').waitFor();
      assert.match((await banner.textContent())!, /What you see was last brought up to date (now|.+ ago)\./);
    }
    assert.deepEqual(watched.problems, []);
  });
});
