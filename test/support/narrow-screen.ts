import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { seriousFindings } from './axe.ts';
import { openPage, signIn } from './browser.ts';

const WIDTH = 390;

/**
 * Opens a screen in a window as narrow as a phone's, light and dark, and fails if the page is wider or axe finds
 * something serious. `ready` waits until the screen is complete, and may check more.
 */
export async function assertFitsNarrowScreen(
  browser: Browser,
  { url, token, path }: { url: string; token: string; path: string },
  ready: (page: Page, width: number) => Promise<void>,
): Promise<void> {
  const viewport = { width: WIDTH, height: 800 };
  const { page, problems } = await openPage(browser, {
    colorScheme: 'light',
    viewport,
    ignored: /status of 401/,
  });
  await signIn(page, url, token, path);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    if (colorScheme === 'dark') await page.reload();
    await ready(page, WIDTH);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), WIDTH);
    assert.deepEqual(await seriousFindings(page), []);
    assert.deepEqual(problems, []);
  }
  await page.context().close();
}
