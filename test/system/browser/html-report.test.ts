import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { seriousFindings } from '../../support/axe.ts';
import { NO_BROWSER, openBrowser, openPage } from '../../support/browser.ts';
import { VIEWS } from '../../support/screens.ts';

const run = promisify(execFile);
const SAMPLE = 'packages/echelon-dashboard/src/sample.json.gz';
const MARKUP = '</script><img src=x onerror=alert(1)><script>alert(2)</script>\u202egnp';

describe('a report in one HTML file, opened from the disk without a network', { skip: NO_BROWSER }, () => {
  const resources = new AsyncDisposableStack();
  let browser: Browser;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'echelon-html-'));
    resources.defer(() => rm(folder, { recursive: true }));
    browser = await openBrowser(resources);
  });
  after(() => resources.disposeAsync());

  /** Verifies files with the program, and writes its report. */
  async function report(name: string, ...files: string[]): Promise<string> {
    const html = join(folder, name);
    const args = ['packages/echelon-verify/src/cli/main.ts', 'verify', ...files, '--html', html];
    await run(process.execPath, args).catch(({ code }) => assert.equal(code, 1));
    return html;
  }

  /** Opens a report; every problem, and every request to something else than the file, is listed. */
  async function open(html: string, options: BrowserContextOptions = {}) {
    const { page, problems } = await openPage(browser, { offline: true, ...options });
    page.on('request', (request) => {
      if (!request.url().startsWith(pathToFileURL(html).href)) problems.push(`request: ${request.url()}`);
    });
    page.on('dialog', (dialog) => problems.push(`dialog: ${dialog.message()}`));
    await page.goto(pathToFileURL(html).href);
    await page.locator('.heat canvas').waitFor();
    return { page, problems };
  }

  const isWide = (page: Page) =>
    page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');

  test('shows the first wrong row with its cause, its batch, and its explanation on a click', async () => {
    const html = await report('wrong.html', 'test/golden/hgpo.json', SAMPLE);
    for (const { width, colorScheme } of VIEWS) {
      const { page, problems } = await open(html, { colorScheme, viewport: { width, height: 850 } });
      const main = page.locator('main');
      assert.match((await main.textContent()) ?? '', /45 of 46 batches ok, 1 not ok\./);
      assert.match((await main.textContent()) ?? '', /Likely cause: levels whose advantage is 0 keep/);
      assert.equal(await isWide(page), false);
      assert.deepEqual(await seriousFindings(page), []);
      await page.getByRole('button', { name: 'Explain row 1', exact: true }).first().click();
      await page.locator('.explained').waitFor();
      assert.match((await page.locator('.explained').textContent()) ?? '', /wrong/);
      assert.match(page.url(), /#\/\?batch=45&row=1$/);
      await page.getByRole('button', { name: 'Close Row 1' }).click();
      await page.getByRole('button', { name: 'walk-K2-mean_norm-base0' }).click();
      await page.getByRole('heading', { name: 'walk-K2-mean_norm-base0' }).waitFor();
      assert.deepEqual(problems, []);
      await page.context().close();
    }
  });

  test('draws the graph of a group with the step of the row', async () => {
    const html = await report('graph.html', 'test/golden/graphgpo.json.gz');
    for (const { width, colorScheme } of VIEWS) {
      const { page, problems } = await open(html, { colorScheme, viewport: { width, height: 850 } });
      await page.getByRole('button', { name: 'graphgpo-large' }).click();
      await page.goto(`${page.url()}&row=5`);
      const graph = page.getByRole('img', { name: /states of the group by distance to the goal/ });
      await graph.waitFor();
      assert.equal(await graph.locator('line.own').count(), 1);
      assert.equal(await graph.locator('circle.goal').count(), 1);
      assert.match((await graph.getAttribute('aria-label')) ?? '', /the row leads from room \d+ to room \d+/);
      assert.equal(await isWide(page), false);
      assert.deepEqual(await seriousFindings(page), []);
      assert.deepEqual(problems, []);
      await page.context().close();
    }
  });

  test('shows hostile names as text, and its address leads to the same row again', async () => {
    const [batch] = JSON.parse(await readFile('test/golden/hgpo.json', 'utf8')).batches;
    const hostile = (names: string[]) => names.map((name) => `${name} ${MARKUP}`);
    const file = join(folder, `hostile ${'<b>'}.json`);
    const changed = {
      ...batch,
      name: MARKUP,
      group: hostile(batch.group),
      trajectory: hostile(batch.trajectory),
    };
    await writeFile(file, JSON.stringify({ format: 'echelon-batch/1', batches: [changed] }));
    const html = await report('hostile.html', file);
    assert.equal((await readFile(html, 'utf8')).includes('onerror'), false);
    const { page, problems } = await open(html);
    assert.equal(await page.locator('img').count(), 0);
    assert.match(
      (await page.locator('main').textContent()) ?? '',
      /<\/script><img src=x onerror=alert\(1\)>/,
    );
    assert.match((await page.locator('main').textContent()) ?? '', /\\u202egnp/);
    await page.goto(`${pathToFileURL(html).href}#/?batch=0&row=3`);
    await page.reload();
    await page.getByRole('heading', { name: 'Row 3' }).waitFor();
    assert.deepEqual(problems, []);
  });

  test('its policy refuses an added script, an added picture and any request', async () => {
    const html = await report('policy.html', SAMPLE);
    const { page } = await open(html);
    const violated = await page.evaluate(`(async () => {
      const violated = new Set();
      document.addEventListener('securitypolicyviolation', (event) => violated.add(event.effectiveDirective));
      const script = document.createElement('script');
      script.append('globalThis.hasRun = true');
      document.body.append(script);
      await fetch('https://example.org/').catch(() => {});
      const image = document.createElement('img');
      image.src = 'https://example.org/x.png';
      document.body.append(image);
      await new Promise((resolve) => setTimeout(resolve, 300));
      return { violated: [...violated].sort(), hasRun: 'hasRun' in globalThis };
    })()`);
    assert.deepEqual(violated, {
      violated: ['connect-src', 'img-src', 'require-trusted-types-for'],
      hasRun: false,
    });
  });
});
