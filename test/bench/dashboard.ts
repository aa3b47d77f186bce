import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { createDirectoryArchive } from '../../src/store/archive/archive-directory.ts';
import { NO_BROWSER, openBrowser, openPage, signIn } from '../support/browser.ts';
import { startRedis } from '../support/redis.ts';
import { storeFor } from '../support/store.ts';
import { addExperiments, addLog, addTraining, batchFile, EVERY, RARE } from './dashboard-data.ts';
import { usageOf } from './fleet.ts';
import {
  type Figure,
  figureTable,
  isMet,
  machine,
  optionsOf,
  say,
  timed,
  today,
  writePage,
} from './harness.ts';

/*
 * What the dashboard costs in headless Chromium against an api in a process of its own and a Redis with 10,000
 * experiments, trainings of 100 and 100,000 steps, and a log of a million lines.
 */

const EXPERIMENTS = 10_000;
const LINES = 1_000_000;
const ROUNDS = 7;
const PAGES = 50;
const IDLE_SECONDS = 20;

interface Bench {
  url: string;
  token: string;
  /** CPU time of the api so far, seconds. */
  cpu(): Promise<number>;
  browser: Browser;
  page: Page;
  ids: { short: string; long: string; log: string };
}

/** `--write`: also writes docs/evidence/dashboard.md. */
export async function run(args: readonly string[]): Promise<void> {
  const { write } = optionsOf(args, { write: false });
  if (NO_BROWSER) throw new Error(NO_BROWSER);
  await using resources = new AsyncDisposableStack();
  const bench = await prepare(resources);
  const figures: Figure[] = [];
  for (const part of [scripts, list, trainings, heatMap, logs, searches, idle]) {
    const found = await part(bench);
    found.forEach(say);
    figures.push(...found);
  }
  const text = pageOf(figures, bench.browser.version());
  console.log(text);
  if (write) writePage('evidence/dashboard', () => text);
  if (!figures.every(isMet)) process.exitCode = 1;
}

/** The page docs/evidence/dashboard.md. */
function pageOf(figures: readonly Figure[], chromium: string): string {
  return `# What the dashboard costs

Headless Chromium ${chromium} against an api in a process of its own and a Redis with 10,000 experiments, on one machine. Times are by the
wall clock.

${figureTable(figures)}

The training of 100,000 steps is shown with 500 points a metric: the mean, and the range from minimum to maximum. A selected range loads
its own 500 points, so that a range of up to 500 steps shows every value.

Made on ${today()} with \`npm run bench -- dashboard --write\` on ${machine()}; other programs ran beside it.
`;
}

async function prepare(resources: AsyncDisposableStack): Promise<Bench> {
  const directory = await mkdtemp(join(tmpdir(), 'echelon-bench-'));
  resources.defer(() => rm(directory, { recursive: true, force: true }));
  const server = await startRedis({ appendfsync: 'no' });
  resources.defer(() => server.stop());
  const scope = { after: (release: () => Promise<void>) => void resources.defer(release) };
  // Lines of long logs are in the archive, which the api reads too.
  const archived = join(directory, 'archive');
  const archive = createDirectoryArchive(archived);
  const limits = { queuedOfProject: 2 * EXPERIMENTS };
  const { store, redis } = await storeFor(scope, { server, archive, limits });
  const ids = {
    short: await addTraining(store, 100),
    long: await addTraining(store, 100_000),
    log: await addLog(store, LINES),
  };
  await addExperiments(store, EXPERIMENTS);
  // The records are made faster than an api allows.
  await redis.config('SET', 'appendfsync', 'always');
  const api = fork(new URL('dashboard-api.ts', import.meta.url), {
    env: {
      ...process.env,
      REDIS_URL: server.url,
      ECHELON_STATE_DIR: directory,
      ECHELON_ARCHIVE_DIR: archived,
      ECHELON_PORT: '0',
      ECHELON_LOG_LEVEL: 'warn',
    },
  });
  resources.defer(async () => {
    api.disconnect();
    await once(api, 'exit');
  });
  const failed = once(api, 'exit').then(() => Promise.reject(new Error('the api did not start')));
  const [{ url, token }] = (await Promise.race([once(api, 'message'), failed])) as [
    { url: string; token: string },
  ];
  failed.catch(() => {});
  const browser = await openBrowser(resources);
  const page = await openWatched(browser);
  await signIn(page, url, token, '/experiments');
  return { url, token, cpu: async () => (await usageOf(api.pid!)).cpuMs / 1000, browser, page, ids };
}

/** When elements first were there and the frame after them began, ms since the navigation. */
const WATCH = `globalThis.seen = {};
new MutationObserver(() => {
  for (const selector of ['.experiments .pick', '.curve canvas', '.heat canvas'])
    if (!(selector in seen) && document.querySelector(selector)) {
      seen[selector] = 0;
      requestAnimationFrame(() => requestAnimationFrame(() => { seen[selector] = performance.now(); }));
    }
}).observe(document, { childList: true, subtree: true });`;

async function openWatched(browser: Browser): Promise<Page> {
  // Playwright waits with code in texts, which the policy of the page forbids.
  const { page } = await openPage(browser, { viewport: { width: 1280, height: 800 }, bypassCSP: true });
  await page.addInitScript(WATCH);
  return page;
}

const seen = async (page: Page, selector: string): Promise<number> => {
  await page.waitForFunction(`seen[${JSON.stringify(selector)}] > 0`);
  return (await page.evaluate(`seen[${JSON.stringify(selector)}]`)) as number;
};

async function scripts({ page, url }: Bench): Promise<Figure[]> {
  await page.goto(`${url}/experiments`);
  await seen(page, '.experiments .pick');
  const loaded = (await page.evaluate(
    `performance.getEntriesByType('resource').map(({ name }) => name)`,
  )) as string[];
  const sizeOf = async (kind: string) => {
    const files = loaded
      .filter((name) => name.endsWith(kind))
      .map(async (name) => (await fetch(name)).bytes());
    return (await Promise.all(files)).reduce((sum, bytes) => sum + gzipSync(bytes, { level: 9 }).length, 0);
  };
  const [script, style] = [await sizeOf('.js'), await sizeOf('.css')];
  return [
    { what: 'Script of the first screen, gzip', unit: 'kB', most: 80, values: [script / 1000] },
    { what: 'Styles, gzip', unit: 'kB', most: 15, values: [style / 1000] },
  ];
}

async function list({ page, url }: Bench): Promise<Figure[]> {
  const [afterAnswer, whole]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    await page.goto(`${url}/experiments`);
    const at = await seen(page, '.experiments .pick');
    const answered = (await page.evaluate(
      `performance.getEntriesByType('resource').find(({ name }) => name.includes('/v1/experiments?')).responseEnd`,
    )) as number;
    whole.push(at);
    afterAnswer.push(at - answered);
  }
  const of = `${EXPERIMENTS.toLocaleString('en-US')} experiments`;
  return [
    { what: `First rows of ${of}, after the server answers`, unit: 'ms', most: 1000, values: afterAnswer },
    { what: `First rows of ${of}, after the navigation begins`, unit: 'ms', values: whole },
  ];
}

async function trainings({ page, url, ids }: Bench): Promise<Figure[]> {
  const times: Record<'short' | 'long', number[]> = { short: [], long: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const length of ['short', 'long'] as const) {
      await page.goto(`${url}/experiments/${ids[length]}`);
      times[length].push(await seen(page, '.curve canvas'));
    }
  }
  const ratios = times.long.map((time, round) => time / times.short[round]!);
  const box = (await page.locator('.curve .u-over').first().boundingBox())!;
  const answer = page.waitForResponse((response) => /\/metrics\?.*from=/.test(response.url()));
  await page.mouse.move(box.x + box.width / 2, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 + 2, box.y + 20, { steps: 2 });
  await page.mouse.up();
  const { items } = (await (await answer).json()) as {
    items: { series: { points: { count: number }[] }[] }[];
  };
  const points = items[0]!.series[0]!.points;
  return [
    { what: 'Curves of a training of 100 steps', unit: 'ms', values: times.short },
    { what: 'Curves of a training of 100,000 steps', unit: 'ms', values: times.long },
    { what: 'The latter as a share of the former', unit: '×', most: 1.5, values: ratios },
    {
      what: 'Values behind a point of a small selected range',
      unit: '',
      most: 1,
      values: [Math.max(...points.map(({ count }) => count))],
    },
  ];
}

async function heatMap({ page, url }: Bench): Promise<Figure[]> {
  await page.goto(`${url}/verify`);
  const file = { name: 'batch.json', mimeType: 'application/json', buffer: batchFile() };
  await page.locator('input[type=file]').setInputFiles(file);
  await seen(page, '.heat canvas');
  const values: number[] = [];
  for (let round = 0; round < ROUNDS + 1; round++) {
    const spent = (await page.evaluate(`new Promise((done) => {
      const start = performance.now();
      const choices = [...document.querySelectorAll('.chips button')];
      choices.find((one) => one.textContent === 'wrong').click();
      requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
    })`)) as number;
    if (round > 0) values.push(spent);
  }
  const columns = await page.locator('.heat-columns span').count();
  const what = `Heat map of 6,400 rows × ${columns}, sorted, drawn and painted`;
  return [{ what, unit: 'ms', most: 100, values }];
}

/** Waits until every line in view is loaded. */
const linesLoaded = (page: Page) =>
  page.waitForFunction(
    `document.querySelector('.log .shown p') && ![...document.querySelectorAll('.log .shown .text')].some((one) => one.textContent === '…')`,
  );

async function logs({ page, url, ids }: Bench): Promise<Figure[]> {
  const [opened, jumped, linked]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    opened.push(
      await timed(async () => {
        await page.goto(`${url}/experiments/${ids.log}?tab=logs`);
        await page.getByLabel(`Line ${LINES}`, { exact: true }).waitFor();
      }),
    );
    const line = Math.round((LINES * (round + 1)) / (ROUNDS + 2));
    jumped.push(
      await timed(async () => {
        await page.evaluate(
          `(() => { const box = document.querySelector('.log .lines'); box.scrollTop = box.scrollHeight * ${(round + 1) / (ROUNDS + 2)}; })()`,
        );
        await pause(20);
        await linesLoaded(page);
      }),
    );
    linked.push(
      await timed(async () => {
        await page.goto(`${url}/experiments/${ids.log}?tab=logs&line=${line}`);
        await page.locator('.log .asked').getByText(EVERY).waitFor();
      }),
    );
  }
  const nodes = (await page.evaluate(`document.querySelectorAll('.log *').length`)) as number;
  const of = 'a log of 1,000,000 lines';
  return [
    { what: `The end of ${of}`, unit: 'ms', values: opened },
    { what: `Lines after the scroll bar moved in ${of}`, unit: 'ms', most: 200, values: jumped },
    { what: `A link to a line of ${of}`, unit: 'ms', values: linked },
    { what: 'Elements of the document for that log', unit: '', most: 1500, values: [nodes] },
  ];
}

async function searches({ page, url, ids }: Bench): Promise<Figure[]> {
  const found: Figure[] = [];
  for (const [text, expected] of [
    [RARE, LINES / 1000],
    [EVERY, LINES],
  ] as const) {
    const said = `${expected.toLocaleString('en-US')} lines fit the filter`;
    const values: number[] = [];
    for (let round = 0; round < 3; round++) {
      await page.goto(`${url}/experiments/${ids.log}?tab=logs`);
      values.push(
        await timed(async () => {
          await page.goto(`${url}/experiments/${ids.log}?tab=logs&contains=${encodeURIComponent(text)}`);
          // A count that is not yet complete says so.
          await page.waitForFunction(
            `(document.querySelector('.log .card-head')?.textContent ?? '').startsWith(${JSON.stringify(said)}) && !document.querySelector('.log .card-head').textContent.includes('so far')`,
          );
        }),
      );
    }
    found.push({
      what: `A search with ${said.replace(' fit the filter', '')} found, counted to the end`,
      unit: 'ms',
      values,
    });
  }
  return found;
}

async function idle({ url, page, cpu }: Bench): Promise<Figure[]> {
  const paths = ['/experiments', '/', '/queue', '/system', '/clusters'];
  for (let at = 0; at < PAGES; at++) {
    const one = await page.context().newPage();
    await one.goto(`${url}${paths[at % paths.length]}`);
    await one.locator('h1').first().waitFor();
  }
  await pause(5000);
  const before = await cpu();
  const wall = await timed(() => pause(IDLE_SECONDS * 1000));
  const share = ((await cpu()) - before) / (wall / 1000);
  const what = `CPU of the api with ${PAGES} open pages while nothing changes, share of a core`;
  return [{ what, unit: '%', most: 10, values: [share * 100] }];
}
