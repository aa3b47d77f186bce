import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** Debian's Chromium, the one without windows first, or another one at a usual place; undefined: there is none. */
export function findChromium(): string | undefined {
  const places = (process.env.PATH ?? '').split(':');
  const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
  return names.flatMap((name) => places.map((place) => `${place}/${name}`)).find((file) => existsSync(file));
}

/** Why a test that needs a browser cannot run, or false if it can. */
export const NO_BROWSER = findChromium() === undefined && 'no Chromium; on Debian: apt-get install chromium';

/** A browser of its own, closed by `resources`. */
export async function openBrowser(resources: AsyncDisposableStack): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: findChromium()!,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  resources.defer(() => browser.close());
  return browser;
}

/** A page with an empty profile, and what went wrong on it: violations of its policy, errors of scripts and of the console. */
export interface WatchedPage {
  page: Page;
  problems: string[];
}

/** Opens a page and watches it; `ignored` are console messages that the test causes. */
export async function openPage(
  browser: Browser,
  { ignored, ...options }: BrowserContextOptions & { ignored?: RegExp } = {},
): Promise<WatchedPage> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const problems: string[] = [];
  const note = (text: string) => ignored?.test(text) || problems.push(text);
  page.on('pageerror', (error) => note(`error: ${error.message}`));
  // Chromium reports every violation of a policy as an error of the console.
  page.on('console', (message) => message.type() === 'error' && note(`console: ${message.text()}`));
  return { page, problems };
}

/** Signs a page in with the form, and waits until the page at `next` is there. */
export async function signIn(page: Page, url: string, token: string, next = '/'): Promise<void> {
  await page.goto(`${url}${next}`);
  await page.fill('#token', token);
  await page.click('button');
  await page.waitForURL(`${url}${next}`);
}
