import type { Browser, Page } from 'playwright-core';
import { seriousFindings } from './axe.ts';
import { openPage, signIn } from './browser.ts';
import type { BusyScene } from './busy-scene.ts';

/** A width of the window, and a theme. */
export interface View {
  readonly width: number;
  readonly colorScheme: 'light' | 'dark';
}

/** Each width and each theme once. */
export const VIEWS: readonly View[] = [
  { width: 1440, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
];
/** The other pairs of them, in `*.full.test.ts`. */
export const OTHER_VIEWS: readonly View[] = [
  { width: 1440, colorScheme: 'dark' },
  { width: 390, colorScheme: 'light' },
];

/** Sums the shifts of the layout that no input has caused. */
const WATCH_SHIFTS = `globalThis.shifts = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shifts += entry.value;
}).observe({ type: 'layout-shift', buffered: true });`;

/** Badges, labels of an axis and titles that leave the box that cuts them. */
const CUT = `[...document.querySelectorAll('.badge, .axis .tick, .card-head h2')].filter((one) => {
  const [own, box] = [one, one.closest('td, .card') ?? document.body].map((it) => it.getBoundingClientRect());
  return own.width > 0 && (own.right > box.right + 1 || own.left < box.left - 1);
}).map((one) => one.textContent)`;

/** Opens a screen, and waits until it has loaded. */
export async function openScreen(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.locator('h1, h2').first().waitFor();
  for (const one of await page.locator('.state.loading').all()) await one.waitFor({ state: 'detached' });
}

/**
 * Opens every screen in each view. Returns the screens that move while they load, cut a badge, have a finding of axe, or are
 * wider than the window.
 */
export async function faultsOfScreens(
  browser: Browser,
  scene: BusyScene,
  views: readonly View[],
): Promise<string[]> {
  const target = {
    kind: 'webhook',
    url: `https://hooks.example.com/services/${'a'.repeat(60)}`,
    secret: 'hook',
  };
  const body = { project: 'default', events: ['state'], target } as never;
  await scene.client.post('/v1/subscriptions', { body });
  const paths = [
    '/',
    '/experiments',
    '/experiments?group=sweep',
    '/sweeps',
    `/sweeps/${scene.sweep}`,
    '/queue',
    '/clusters',
    '/system',
    '/access',
    '/submit',
    '/rules',
    '/notifications',
    `/compare?id=${scene.running}&id=${scene.failed}`,
    `/experiments/${scene.running}`,
    `/experiments/${scene.failed}`,
  ];
  const found: string[] = [];
  for (const { width, colorScheme } of views) {
    const viewport = { width, height: 900 };
    const options = { colorScheme, viewport, reducedMotion: 'reduce', ignored: /status of 40[14]/ } as const;
    const { page, problems } = await openPage(browser, options);
    await signIn(page, scene.url, scene.token, '/experiments');
    await page.addInitScript(WATCH_SHIFTS);
    for (const path of paths) {
      await openScreen(page, `${scene.url}${path}`);
      const shifts = (await page.evaluate('globalThis.shifts')) as number;
      const wide = (await page.evaluate('document.documentElement.scrollWidth')) as number;
      const here = `${path} at ${width}, ${colorScheme}`;
      const cut = (await page.evaluate(CUT)) as string[];
      found.push(...cut.map((text) => `${here}: ${text} is cut`));
      if (shifts > 0.05) found.push(`${here}: moves by ${shifts.toFixed(3)}`);
      if (wide > width) found.push(`${here}: is ${wide} wide`);
      found.push(...(await seriousFindings(page)).map((finding) => `${here}: ${finding}`));
    }
    found.push(...problems);
    await page.context().close();
  }
  return found;
}
