// Makes docs/assets/dashboard-*.png: the main screens of the dashboard, light and dark, wide and narrow, and those of the guide once.
// With a folder as argument: every screen in every form, to look at.
import { mkdirSync } from 'node:fs';
import { NO_BROWSER, openBrowser, openPage, signIn } from '../test/support/browser.ts';
import { startInstallation } from '../test/support/dashboard.ts';

if (NO_BROWSER) throw new Error(NO_BROWSER);
const [folder = 'docs/assets'] = process.argv.slice(2);
const isEverything = process.argv.length > 2;
mkdirSync(folder, { recursive: true });
await using resources = new AsyncDisposableStack();
const { url, token, client, finished } = await startInstallation(resources);
const replay = (name: string, settings: object) =>
  finished({ name, engine: 'replay', replay: settings } as never);
const recorded = await replay('recorded batches', { batches: 8 });
await replay('sample deviation', { batches: 6, fault: 'sample-std' });
const faulty = await replay('a faulty estimator', { batches: 12, fault: 'zero-levels-kept', logLines: 60 });
const spec = { engine: 'replay', replay: { logLines: 2 } } as never;
const axes = { '/replay/batches': [6, 8] };
const { id: sweep } = await client.post('/v1/sweeps', {
  body: { name: 'two lengths', method: 'grid', spec, axes },
});
for (let isDone = false; !isDone; ) {
  const { children } = await client.get('/v1/sweeps/{id}', { path: { id: sweep } });
  isDone = children.every(({ state }) => state === 'succeeded');
}
// One experiment runs, and others are queued.
const cpus = (await client.get('/v1/clusters', {})).items.flatMap(({ nodes }) =>
  nodes.map((node) => node.cpusTotal),
);
for (const [name, batches, share] of [
  ['learning rate 1e-6', 60, 1],
  ['learning rate 3e-6', 8, 0.5],
  ['seed 2', 4, 0.5],
  ['all CPUs', 10, 1],
] as const) {
  const resources = { cpus: Math.max(1, Math.floor((cpus[0] ?? 1) * share)) };
  const replay = { batches, delaySeconds: 2 };
  await client.post('/v1/experiments', { body: { name, engine: 'replay', replay, resources } as never });
}
const batch = `/experiments/${faulty}/batches/1/2`;
const main: [name: string, path: string, ready: string][] = [
  ['experiments', '/experiments', '.experiments .outcome-bar'],
  ['experiment', `/experiments/${faulty}`, '.curve canvas'],
  ['batch', `${batch}?row=242`, '.explained'],
];
const guide: typeof main = [
  ['same-state', `/experiments/${faulty}/batches/1/1/same-state?row=12`, '.same-state tr[aria-current]'],
  ['queue', '/queue', '.bar.running'],
  ['verify', '/verify?sample=1', '.heat canvas'],
];
const others: typeof main = [
  ['trajectory', `/experiments/${faulty}/batches/1/1/trajectory?name=10.0.1&step=4`, '.step[aria-current]'],
  ['sweep', `/sweeps/${sweep}?metric=episode%2Freward%2Fmean`, '.curve canvas'],
  ['compare', `/compare?id=${faulty}&id=${recorded}`, '.curve canvas'],
  ['logs', `/experiments/${faulty}?tab=logs`, '.log .text'],
  ['verification', `/experiments/${faulty}?tab=verification`, 'table.data'],
  ['now', '/', '.entries'],
  ['submit', '/submit', 'h1'],
  ['system', '/system', '.entries'],
];
const browser = await openBrowser(resources);
for (const colorScheme of ['light', 'dark'] as const) {
  for (const width of [1280, 390]) {
    const viewport = { width, height: 850 };
    const { page } = await openPage(browser, { colorScheme, viewport, reducedMotion: 'reduce' });
    await signIn(page, url, token, '/experiments');
    const isOnce = colorScheme === 'light' && width === 1280;
    for (const [name, path, ready] of [
      ...main,
      ...(isEverything || isOnce ? guide : []),
      ...(isEverything ? others : []),
    ]) {
      await page.goto(`${url}${path}`);
      await page.locator(ready).first().waitFor();
      // Charts are drawn in the next frames.
      await page.waitForTimeout(500);
      await page.screenshot({ path: `${folder}/dashboard-${name}-${colorScheme}-${width}.png` });
    }
    await page.context().close();
  }
}
console.log(`the screenshots are in ${folder}`);
