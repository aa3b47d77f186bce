import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { seriousFindings } from '../../support/axe.ts';
import { NO_BROWSER, openBrowser, openPage, signIn } from '../../support/browser.ts';
import { startInstallation } from '../../support/dashboard.ts';

const resources = new AsyncDisposableStack();
after(() => resources.disposeAsync());

test('what the batches offer to learn from is a curve over the steps, with its label', {
  skip: NO_BROWSER,
}, async () => {
  const [installation, browser] = await Promise.all([startInstallation(resources), openBrowser(resources)]);
  const id = await installation.finished({ name: 'replay', engine: 'replay', replay: { batches: 3 } });
  const { items } = await installation.client.get('/v1/experiments/{id}/signal', { path: { id } });
  const names = [...new Set(items.flatMap(({ values }) => Object.keys(values)))];
  assert.deepEqual([items.length, names.includes('effective trajectories')], [3, true]);
  const watched = await openPage(browser, {
    viewport: { width: 1280, height: 800 },
    ignored: /status of 401/,
  });
  const { page } = watched;
  await signIn(page, installation.url, installation.token, `/experiments/${id}?tab=verification`);
  const card = page.locator('details.signal');
  await card.getByText('Signal over the steps').click();
  await card.getByText('describes the signal, does not predict success').waitFor();
  await card.locator('.curve canvas').first().waitFor();
  assert.equal(await card.locator('.curve canvas').count(), names.length);
  assert.deepEqual(await seriousFindings(page), []);
  assert.deepEqual(watched.problems, []);
});
