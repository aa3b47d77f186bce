import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { encodeBatch } from '../../../packages/echelon-verify/src/format/batch-wire.ts';
import { readBatchFile } from '../../../packages/echelon-verify/src/format/read.ts';
import type { AttemptEvent } from '../../../src/core/events.ts';
import { NO_BROWSER, openBrowser, openPage, signIn, type WatchedPage } from '../../support/browser.ts';
import { type Installation, startInstallation } from '../../support/dashboard.ts';
import { recordBatch, running, storeFor } from '../../support/store.ts';

/** Markup, and a word of a script that runs from right to left: allowed in names. */
const MARKUP = '<img src=x onerror=alert(1)><script>alert(2)</script>"\' שלום';
/** Also sequences for terminals, characters that reverse or hide text, and more than a line of the screen. */
const RAW = `${MARKUP}\u001b[31m\u001b]8;;javascript:alert(3)\u0007\u202egnp.exe\u2066\u200b\u0000${'w'.repeat(3000)}`;
/** As long as a line of a log may be. */
const LONG = `${RAW} ${'<b>'.repeat(4000)}`;

/** A recorded batch with hostile texts wherever a trainer may put some. */
function hostileBatch(): Buffer {
  const file = readFileSync(new URL('../../golden/hgpo.json', import.meta.url));
  const [batch] = JSON.parse(file.toString()).batches;
  const rename = (names: string[]) => names.map((name) => `${name} ${RAW.slice(0, 150)}`);
  // A batch above 64 kB would be in the archive of the api.
  const first = <T>(value: T) => (Array.isArray(value) ? value.slice(0, 28) : value);
  const firsts = (columns: object) =>
    Object.fromEntries(Object.entries(columns).map(([name, own]) => [name, first(own)]));
  Object.assign(batch, firsts(batch), { reported: firsts(batch.reported) });
  const hostile = {
    ...batch,
    name: RAW,
    group: rename(batch.group),
    trajectory: rename(batch.trajectory),
    observation: rename(batch.observation),
    actionIndex: batch.group.map(() => 0),
    actions: [RAW],
  };
  const json = Buffer.from(JSON.stringify({ format: 'echelon-batch/1', batches: [hostile] }));
  return Buffer.from(encodeBatch(readBatchFile(json, 'hostile')[0]!));
}

describe('hostile texts in Chromium', { skip: NO_BROWSER }, () => {
  const resources = new AsyncDisposableStack();
  let installation: Installation;
  let browser: Browser;
  let watched: WatchedPage;
  let page: Page;
  let id: string;
  let other: string;
  let trajectory: string;

  before(async () => {
    [installation, browser] = await Promise.all([startInstallation(resources), openBrowser(resources)]);
    watched = await openPage(browser, {
      viewport: { width: 1280, height: 800 },
      ignored: /status of 40[14]/,
    });
    page = watched.page;
    page.on('dialog', (dialog) => watched.problems.push(`dialog: ${dialog.message()}`));
    await signIn(page, installation.url, installation.token, '/experiments');
    await record();
  });
  after(() => resources.disposeAsync());

  async function record(): Promise<void> {
    const { client, redis } = installation;
    const scope = { after: (release: () => Promise<void>) => void resources.defer(release) };
    const { store } = await storeFor(scope, { server: redis });
    const lease = await running(store, { input: { name: MARKUP } });
    id = lease.experiment;
    const lines: AttemptEvent = { type: 'log', source: 'stderr', lines: [RAW, LONG], cutBytes: 0 };
    const metrics: AttemptEvent = { type: 'metrics', step: 1, values: { [RAW.slice(0, 190)]: 1 } };
    const gap = { type: 'gap', kind: 'logs', step: 1, count: 1, bytes: 1, rows: 0, reason: RAW } as const;
    const events = [lines, metrics, gap].map((event, index) => ({
      sequence: index + 1,
      at: Date.now(),
      event,
    }));
    await store.events.append(lease, events);
    await recordBatch(store, lease, { batch: 1, data: hostileBatch(), sequence: 4 });
    await store.attempts.end(lease, { to: 'failed', reason: RAW });
    other = await installation.finished({ name: MARKUP, engine: 'replay', replay: { batches: 1 } } as never);
    await client.post('/v1/keys', { body: { name: MARKUP, scopes: ['read'] } });
    await client.post('/v1/queues/{name}/pause', {
      path: { name: '_all' },
      body: { reason: MARKUP },
    } as never);
    await client.post('/v1/experiments', { body: { name: MARKUP, engine: 'replay', replay: {} } as never });
    const path = { id, attempt: 1, batch: 1 };
    const rows = await client.get('/v1/experiments/{id}/batches/{attempt}/{batch}/rows', { path });
    trajectory = rows.trajectories[0]!;
  }

  const screens = (): string[] => [
    '/',
    '/experiments',
    '/sweeps',
    '/queue',
    '/clusters',
    '/submit',
    '/rules',
    '/notifications',
    '/system',
    '/verify',
    '/access',
    '/access?tab=projects',
    '/access?tab=audit',
    ...['', '?tab=verification', '?tab=logs', '?tab=logs&contains=alert', '?tab=attempts', '?tab=spec'].map(
      (tab) => `/experiments/${id}${tab}`,
    ),
    `/experiments/${id}/batches/1/1?row=1`,
    `/experiments/${id}/batches/1/1/same-state?row=1`,
    `/experiments/${id}/batches/1/1/trajectory?name=${encodeURIComponent(trajectory)}`,
    `/compare?id=${id}&id=${other}`,
  ];

  async function open(path: string): Promise<void> {
    await page.goto(`${installation.url}${path}`);
    await page.locator('h1, h2').first().waitFor();
    for (const one of await page.locator('.state.loading').all()) await one.waitFor({ state: 'detached' });
  }

  /** What a hostile text has made of the page: elements of its own, effects on other text, a page wider than its window. */
  const damage = () =>
    page.evaluate(`(() => {
      const found = [];
      for (const one of document.querySelectorAll('img[src="x"], script:not([src]), b'))
        found.push('element ' + one.outerHTML.slice(0, 80));
      const width = document.documentElement.scrollWidth;
      const isWide = (one) => one.getBoundingClientRect().right > innerWidth && one.getBoundingClientRect().width > innerWidth - 300;
      const widest = [...document.querySelectorAll('main *')].filter(isWide).slice(0, 3).map(({ tagName, className }) => tagName + '.' + className);
      if (width > innerWidth) found.push('a page of ' + width + ' pixels by ' + widest);
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const { data, parentElement } = texts.currentNode;
        if (/[\\u0000\\u001b\\u200b\\u202a-\\u202e\\u2066-\\u2069]/.test(data)) found.push('a character in ' + parentElement.className);
        if (!data.includes('שלום') || parentElement.closest('option, title')) continue;
        const { display, unicodeBidi } = getComputedStyle(parentElement);
        if (display.startsWith('inline') && display === 'inline' && !/isolate|plaintext/.test(unicodeBidi))
          found.push('text that is not isolated in ' + parentElement.outerHTML.slice(0, 120));
      }
      return found;
    })()`) as Promise<string[]>;

  test('no text of a training or a user runs, moves other text or widens the page on any screen, and none shows a secret', async () => {
    const found: string[] = [];
    let shown = 0;
    for (const path of screens()) {
      await open(path);
      for (const one of await damage()) found.push(`${path}: ${one}`);
      const content = await page.content();
      for (const secret of installation.secrets)
        if (content.includes(secret)) found.push(`${path}: a secret`);
      if (content.includes('&lt;img src=x')) shown += 1;
    }
    assert.deepEqual(found, []);
    assert.deepEqual(watched.problems, []);
    assert.ok(shown > 12, `the texts are on ${shown} screens only`);
  });

  test('a line of a log is shown without the sequences that a terminal obeys', async () => {
    await open(`/experiments/${id}?tab=logs`);
    const first = (await page.locator('.log .text').first().textContent())!;
    assert.ok(first.startsWith(MARKUP), first.slice(0, 80));
    assert.ok(!first.includes('[31m'));
  });
});
