// Makes docs/assets/dashboard-*.png: the main screens of the dashboard, light and dark, wide and narrow.
import { mkdirSync } from 'node:fs';
import { NO_BROWSER, openBrowser, openPage, signIn } from '../test/support/browser.ts';
import { startInstallation } from '../test/support/dashboard.ts';

if (NO_BROWSER) throw new Error(NO_BROWSER);
const FOLDER = 'docs/assets';
mkdirSync(FOLDER, { recursive: true });
await using resources = new AsyncDisposableStack();
const { url, token, finished } = await startInstallation(resources);
const replay = (name: string, settings: object) =>
  finished({ name, engine: 'replay', replay: settings } as never);
await replay('recorded batches', { batches: 8 });
await replay('sample deviation', { batches: 6, fault: 'sample-std' });
const faulty = await replay('a faulty estimator', { batches: 12, fault: 'zero-levels-kept' });
const screens: [name: string, path: string, ready: string][] = [
  ['experiments', '/experiments', '.exp-row .outcome-bar'],
  ['experiment', `/experiments/${faulty}`, '.curve canvas'],
  ['batch', `/experiments/${faulty}/batches/1/2?row=242`, '.explained'],
];
const browser = await openBrowser(resources);
for (const colorScheme of ['light', 'dark'] as const) {
  for (const width of [1280, 390]) {
    const viewport = { width, height: 850 };
    const { page } = await openPage(browser, { colorScheme, viewport, reducedMotion: 'reduce' });
    await signIn(page, url, token, '/experiments');
    for (const [name, path, ready] of screens) {
      await page.goto(`${url}${path}`);
      await page.locator(ready).first().waitFor();
      // Charts are drawn in the next frames.
      await page.waitForTimeout(500);
      await page.screenshot({ path: `${FOLDER}/dashboard-${name}-${colorScheme}-${width}.png` });
    }
    await page.context().close();
  }
}
console.log(`the screenshots are in ${FOLDER}`);
