import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { seriousFindings } from '../../support/axe.ts';
import { NO_BROWSER, openBrowser, openPage, signIn } from '../../support/browser.ts';
import { keptOutput, runProgram } from '../../support/cli.ts';
import { keptComparison } from '../../support/comparison-scene.ts';
import { type QueueScene, startQueueScene } from '../../support/queue-scene.ts';
import { VIEWS } from '../../support/screens.ts';

const SENTENCE = 'hgpo is worse by at least the margin';

describe('a comparison in Chromium', { skip: NO_BROWSER }, () => {
  const resources = new AsyncDisposableStack();
  let scene: QueueScene;
  let browser: Browser;
  let folder: string;
  let kept: { id: string; runs: string[] };
  let wrong: { id: string; runs: string[] };

  before(async () => {
    [scene, browser] = await Promise.all([startQueueScene(resources), openBrowser(resources)]);
    folder = await mkdtemp(join(tmpdir(), 'echelon-comparison-'));
    resources.defer(() => rm(folder, { recursive: true }));
    kept = await keptComparison(scene);
    wrong = await keptComparison(scene, { name: 'with wrong rows' });
    await scene.redis.hset(`{echelon}:x:${wrong.runs[3]}`, { vWrong: 7, vSeen: 100, vExact: 93 });
    await scene.client.post('/v1/comparisons', {
      body: { ...(await planOf(kept.id)), name: 'not ended' },
    });
  });
  after(() => resources.disposeAsync());

  const planOf = async (id: string) =>
    (await scene.client.get('/v1/comparisons/{id}', { path: { id } })).plan;

  /** Fails if the page is wider than its window or axe finds something serious. */
  async function check(page: Page, name: string): Promise<void> {
    const { width } = page.viewportSize()!;
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, name);
    assert.deepEqual(await seriousFindings(page), [], name);
    if (process.env.ECHELON_PICTURES) {
      const scheme = await page.evaluate(
        'matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"',
      );
      await page.screenshot({
        path: join(process.env.ECHELON_PICTURES, `${name}-${scheme}-${width}.png`),
        fullPage: true,
      });
    }
  }

  test('the screens fit both widths and themes, and say the sentence and the wrong rows first', async () => {
    for (const { width, colorScheme } of VIEWS) {
      const viewport = { width, height: 900 };
      const options = { colorScheme, viewport, reducedMotion: 'reduce', ignored: /status of 401/ } as const;
      const { page, problems } = await openPage(browser, options);
      await signIn(page, scene.url, scene.token, '/sweeps');
      await page.getByRole('link', { name: 'Planned comparisons' }).click();
      await page.getByRole('link', { name: 'not ended' }).waitFor();
      await check(page, 'list');
      await page.getByRole('link', { name: 'HGPO against GiGPO' }).first().click();
      await page.locator('.curve canvas').waitFor();
      const status = await page.locator('main [role=status]').textContent();
      assert.match(status ?? '', new RegExp(`^${SENTENCE}\\. Against gigpo`));
      assert.equal(await page.locator('.seed-plot .seed').count(), 8);
      await check(page, 'comparison');
      await page.goto(`${scene.url}/comparisons/${wrong.id}`);
      await page.locator('.curve canvas').waitFor();
      const first = await page.locator('main [role=status] > *').first().textContent();
      assert.match(first ?? '', /^hgpo, seed 2 .* has 7 wrong rows: it did not train by its method\.$/);
      await check(page, 'wrong');
      await page.goto(`${scene.url}/sweeps/${kept.id}`);
      await page.getByRole('link', { name: 'Comparison', exact: true }).click();
      await page.getByRole('heading', { name: 'HGPO against GiGPO' }).waitFor();
      assert.deepEqual(problems, []);
      await page.context().close();
    }
  });

  test('the games that the screen and the exported page save are those of the result', async () => {
    const { page, problems } = await openPage(browser, { ignored: /status of 401/ });
    await signIn(page, scene.url, scene.token, `/comparisons/${kept.id}`);
    const fromScreen = await saved(page);
    const file = join(folder, 'comparison.html');
    const { error } = await runProgram(keptOutput(), [
      ...['comparison', 'export', kept.id, file, '--url', scene.url, '--token', scene.token],
    ]);
    assert.equal(error, undefined);
    const games = join(folder, 'games.csv');
    await runProgram(keptOutput(), [
      ...['comparison', 'export', kept.id, games, '--url', scene.url, '--token', scene.token],
    ]);
    assert.equal(await readFile(games, 'utf8'), fromScreen);
    for (const { width, colorScheme } of VIEWS) {
      const own = await openPage(browser, { offline: true, colorScheme, viewport: { width, height: 900 } });
      own.page.on('request', (request) => {
        if (!request.url().startsWith('file:') && !request.url().startsWith('blob:'))
          own.problems.push(`request: ${request.url()}`);
      });
      await own.page.goto(pathToFileURL(file).href);
      await own.page.locator('.curve canvas').waitFor();
      assert.match((await own.page.locator('[role=status]').textContent()) ?? '', new RegExp(SENTENCE));
      assert.equal(await own.page.locator('main a').count(), 0);
      await check(own.page, 'page');
      assert.equal(await saved(own.page), fromScreen);
      assert.deepEqual(own.problems, []);
      await own.page.context().close();
    }
    assert.deepEqual(problems, []);
    const evidence = gunzipSync(await readFile('docs/evidence/comparison-games.csv.gz')).toString();
    const withoutIds = (csv: string) => csv.replaceAll(/,exp-\w+,/g, ',,');
    assert.equal(withoutIds(fromScreen), withoutIds(evidence));
  });
});

/** The text of the file that the button saves. */
async function saved(page: Page): Promise<string> {
  const started = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save the games as CSV' }).click();
  return await readFile(await (await started).path(), 'utf8');
}
