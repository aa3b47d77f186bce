// Makes docs/assets/dashboard-*.png: the main screens of the dashboard, light and dark, wide and narrow, and those of the guide once.
// With a folder as argument: every screen in every form, to look at.
import { mkdirSync } from 'node:fs';
import { NO_BROWSER, openBrowser, openPage, signIn } from '../test/support/browser.ts';
import { startBusyScene } from '../test/support/busy-scene.ts';
import { startInstallation } from '../test/support/dashboard.ts';

if (NO_BROWSER) throw new Error(NO_BROWSER);
const [folder = 'docs/assets'] = process.argv.slice(2);
const isEverything = process.argv.length > 2;
mkdirSync(folder, { recursive: true });
await using resources = new AsyncDisposableStack();
const { url, token, finished } = await startInstallation(resources);
const replay = (name: string, settings: object) =>
  finished({ name, engine: 'replay', replay: settings } as never);
const recorded = await replay('recorded batches', { batches: 8 });
await replay('sample deviation', { batches: 6, fault: 'sample-std' });
const faulty = await replay('a faulty estimator', { batches: 12, fault: 'zero-levels-kept', logLines: 60 });
const batch = `/experiments/${faulty}/batches/1/2`;
const main: [name: string, path: string, ready: string][] = [
  ['experiment', `/experiments/${faulty}`, '.curve canvas'],
  ['batch', `${batch}?row=242`, '.explained'],
];
const guide: typeof main = [
  ['same-state', `/experiments/${faulty}/batches/1/1/same-state?row=12`, '.same-state tr[aria-current]'],
  ['verify', '/verify?sample=1', '.heat canvas'],
];
const others: typeof main = [
  ['trajectory', `/experiments/${faulty}/batches/1/1/trajectory?name=10.0.1&step=4`, '.step[aria-current]'],
  ['compare', `/compare?id=${faulty}&id=${recorded}`, '.curve canvas'],
  ['logs', `/experiments/${faulty}?tab=logs`, '.log .text'],
  ['verification', `/experiments/${faulty}?tab=verification`, 'table.data'],
  ['now', '/', '.entries'],
  ['submit', '/submit', 'h1'],
  ['system', '/system', '.entries'],
];
// A busy day: 60 queued experiments, a sweep of 12 combinations, two clusters, 5,000 experiments in the list.
const scene = await startBusyScene(resources);
const busy: typeof main = [
  ['experiments', '/experiments', '.experiments .badge'],
  ['queue', '/queue', '.bar.running'],
  ['sweep', `/sweeps/${scene.sweep}`, '.parallel polyline'],
];
const browser = await openBrowser(resources);
for (const colorScheme of ['light', 'dark'] as const) {
  for (const width of [1280, 390]) {
    const isOnce = colorScheme === 'light' && width === 1280;
    const more = isEverything ? [...guide, ...others] : isOnce ? guide : [];
    await shoot({ url, token }, [...main, ...more], { colorScheme, width });
    await shoot(scene, isEverything || isOnce ? busy : busy.slice(0, 1), { colorScheme, width });
  }
}
console.log(`the screenshots are in ${folder}`);

async function shoot(
  at: { url: string; token: string; round?: () => Promise<void> },
  screens: typeof main,
  { colorScheme, width }: { colorScheme: 'light' | 'dark'; width: number },
): Promise<void> {
  const viewport = { width, height: 850 };
  const { page } = await openPage(browser, { colorScheme, viewport, reducedMotion: 'reduce' });
  await signIn(page, at.url, at.token, '/experiments');
  for (const [name, path, ready] of screens) {
    await at.round?.();
    await page.goto(`${at.url}${path}`);
    await page.locator(ready).first().waitFor();
    // Charts are drawn in the next frames.
    await page.waitForTimeout(500);
    await page.screenshot({ path: `${folder}/dashboard-${name}-${colorScheme}-${width}.png` });
  }
  await page.context().close();
}
