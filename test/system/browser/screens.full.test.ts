import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_BROWSER, openBrowser } from '../../support/browser.ts';
import { startBusyScene } from '../../support/busy-scene.ts';
import { faultsOfScreens, OTHER_VIEWS } from '../../support/screens.ts';

test('no screen moves while it loads, cuts a badge, has a finding of axe, or is wider than the window, in each other pair of width and theme', {
  skip: NO_BROWSER,
}, async () => {
  await using resources = new AsyncDisposableStack();
  const [scene, browser] = await Promise.all([startBusyScene(resources, 300), openBrowser(resources)]);
  assert.deepEqual(await faultsOfScreens(browser, scene, OTHER_VIEWS), []);
});
