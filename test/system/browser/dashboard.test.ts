import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { RowExplanation } from 'echelon-verify/explain';
import type { BatchReport } from 'echelon-verify/report';
import type { Browser, Page } from 'playwright-core';
import { inWords } from '../../../packages/echelon-dashboard/src/models/outcomes.ts';
import { verifyFiles } from '../../../packages/echelon-verify/src/cli/verify-files.ts';
import { DUMPS, folder } from '../../../packages/echelon-verify/test/support/dump-files.ts';
import { seriousFindings } from '../../support/axe.ts';
import { NO_BROWSER, openBrowser, openPage, signIn, type WatchedPage } from '../../support/browser.ts';
import { type Installation, startInstallation } from '../../support/dashboard.ts';

const FAULT = {
  name: 'a faulty estimator',
  engine: 'replay',
  replay: { fault: 'zero-levels-kept', batches: 3, logLines: 2 },
} as const;
/** Dumps as parquet, JSON lines, torch files and CSV, with the configuration of their runs. */
const DUMPED = [
  [
    'trl/weights/training_args.bin',
    ...[1, 2, 3].map((step) => `trl/weights/completions/completions_0000${step}.parquet`),
  ],
  ['ms-swift/rloo/args.json', 'ms-swift/rloo/completions.jsonl'],
  ['slime/train_data/0_0.pt', 'slime/train_data/1_0.pt'],
];
/** A group whose advantages have the wrong sign, in a table of which the estimator is inferred. */
const CSV = `group,reward,advantage\n${[1, 0, 0, 1].flatMap((reward, at) => [`a,${reward},${reward - 0.5}`, `b,${at % 2},${at % 2 ? -0.5 : 0.5}`]).join('\n')}\n`;
const HOSTILE = '<img src=x onerror=alert(1)><script>alert(2)</script>';

/** Presses Tab until an element of the selector has the focus, and then Enter. Fails if Tab does not reach one. */
async function enter(page: Page, selector: string): Promise<void> {
  const hasFocus = () =>
    page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`) as Promise<boolean>;
  for (let presses = 0; presses < 200; presses++) {
    await page.keyboard.press('Tab');
    if (await hasFocus()) return page.keyboard.press('Enter');
  }
  throw new Error(`Tab does not reach ${selector}`);
}

describe('the dashboard in Chromium', { skip: NO_BROWSER }, () => {
  const resources = new AsyncDisposableStack();
  let installation: Installation;
  let browser: Browser;
  let watched: WatchedPage;
  let page: Page;
  let faulty: string;
  let sweep: string;
  let step: string;

  before(async () => {
    [installation, browser] = await Promise.all([startInstallation(resources), openBrowser(resources)]);
    watched = await openPage(browser, { viewport: { width: 1280, height: 800 }, ignored: /status of 401/ });
    page = watched.page;
    await signIn(page, installation.url, installation.token, '/experiments');
  });
  after(() => resources.disposeAsync());

  /** Opens a path of the dashboard and waits until its screen is there. */
  async function open(path: string): Promise<void> {
    await page.goto(`${installation.url}${path}`);
    await page.locator('h1').first().waitFor();
  }

  test('an empty installation shows a sample that is labelled as one', async () => {
    await page.getByRole('link', { name: 'look at a sample' }).click();
    await page.getByText('Sample data, not of this installation').waitFor();
    await page.getByRole('button', { name: 'wrong', exact: true }).click();
    await page.locator('.row-table .link').first().click();
    await page.locator('.explained .outcome.wrong').first().waitFor();
    assert.deepEqual(watched.problems, []);
    await open('/experiments');
  });

  test('an empty installation offers the replay with a planted fault, and shows it', async () => {
    await page.getByText('No experiment yet').waitFor();
    await page.getByRole('button', { name: 'Run the replay with a planted fault' }).click();
    await page.waitForURL(/\/experiments\/exp-/);
    await page.getByText(/verified rows? (is|are) wrong/).waitFor({ timeout: 30_000 });
    assert.deepEqual(watched.problems, []);
  });

  test('from the list a wrong batch, its heat map and a row lead to the explanation of the API', async () => {
    faulty = await installation.finished(FAULT as never);
    await open('/experiments');
    const named = page.locator(`a[href="/experiments/${faulty}"]`);
    // Beside the link, the row opens the experiment too, and in a tab of its own with the keys that do so on a link.
    const state = page.locator('tr', { has: named }).locator('td').nth(2);
    const tab = page.context().waitForEvent('page');
    await state.click({ modifiers: ['ControlOrMeta'] });
    assert.equal(new URL((await tab).url()).pathname, `/experiments/${faulty}`);
    await (await tab).close();
    await state.click();
    await page.getByRole('link', { name: 'Why?' }).click();
    await page.locator('.heat canvas').waitFor();
    // It leads to the first wrong row, whose numbers stay in view beside the panel.
    await page.locator('.drawer .explained .outcome.wrong').first().waitFor();
    const panel = (await page.locator('.drawer').boundingBox())!;
    for (const title of ['True', 'Reported']) {
      const head = (await page.locator('.row-table th', { hasText: title }).boundingBox())!;
      assert.ok(head.x + head.width <= panel.x, title);
    }
    await page.locator('.row-table tr[aria-current]').waitFor();
    await page.getByRole('button', { name: 'wrong', exact: true }).click();
    await page.locator('.heat canvas').click({ position: { x: 90, y: 3 } });
    await page.locator('.drawer .explained').waitFor();
    const { searchParams, pathname } = new URL(page.url());
    const [row, batch] = [Number(searchParams.get('row')), Number(pathname.split('/').at(-1))];
    const query = { batch, row, attempt: 1 };
    const { explanation } = await installation.client.get('/v1/experiments/{id}/explain', {
      path: { id: faulty },
      query,
    });
    const { reported, true: truth, outcome, likelyCause } = explanation as unknown as RowExplanation;
    assert.equal(outcome, 'wrong');
    const shown = page.locator('.interval dd');
    const numbers = await shown.allInnerTexts();
    assert.equal(Number(numbers[0]), Number(reported!.toPrecision(7)));
    assert.equal(Number(numbers[1]), Number(truth!.toPrecision(7)));
    assert.ok((await page.locator('.explained').textContent())!.includes(likelyCause!));
    assert.deepEqual(watched.problems, []);
  });

  test('from a row to its state and on to a trajectory the numbers are those of the API', async () => {
    const path = { id: faulty, attempt: 1, batch: 1 };
    const rowsOf = (query: object) =>
      installation.client.get('/v1/experiments/{id}/batches/{attempt}/{batch}/rows', { path, query });
    await open(`/experiments/${faulty}/batches/1/1?row=12`);
    await page.getByRole('link', { name: 'What was tried in the same state' }).click();
    await page.locator('.same-state tr[aria-current]').waitFor();
    const state = await rowsOf({ sameStateAs: 12 });
    const cells = await page.locator('.same-state tr:not(.above)').allInnerTexts();
    const shown = cells.slice(1).map((line) => line.split('\t').map((cell) => cell.trim()));
    const byRow = new Map(shown.map(([row, , ...numbers]) => [Number(row), numbers.slice(0, 3).map(Number)]));
    const round = (x: number | null | undefined) => Number((x ?? 0).toPrecision(7));
    const { row, stepReturn, true: truth, reported } = state;
    assert.equal(byRow.size, row.length);
    for (const [at, one] of row.entries())
      assert.deepEqual(byRow.get(one), [round(stepReturn[at]), round(truth[at]), round(reported[at])]);
    await page.locator('.same-state tr[aria-current] a[href*="trajectory"]').click();
    await page.locator('.step[aria-current]').waitFor();
    const name = new URL(page.url()).searchParams.get('name')!;
    const trajectory = await rowsOf({ trajectory: name });
    const steps = await page.locator('.step').count();
    assert.equal(steps, trajectory.matching);
    await page.keyboard.press('j');
    const at = Number(new URL(page.url()).searchParams.get('step'));
    const entry = page.locator('.step[aria-current]');
    const said = (await entry.textContent())!;
    assert.ok(said.includes(trajectory.observations![trajectory.observation![at]!]!));
    assert.ok(said.includes(trajectory.actions![trajectory.action![at]!]!));
    assert.equal(
      Number(await entry.locator('dd').nth(1).textContent()),
      round(trajectory.reported[trajectory.step.indexOf(at)]),
    );
    await page.keyboard.press(']');
    await page.waitForURL((url) => url.searchParams.get('name') !== name);
    assert.equal(Number(new URL(page.url()).searchParams.get('step')), at);
    assert.deepEqual(watched.problems, []);
  });

  test('a metric of a sweep over steps shows the means of the API and how many children they are of', async () => {
    const { client } = installation;
    const spec = { engine: 'replay', replay: { batches: 2, logLines: 2 } } as never;
    const axes = { '/replay/batches': [2, 3] };
    const body = { name: 'a sweep', method: 'list', spec, axes } as const;
    ({ id: sweep } = await client.post('/v1/sweeps', { body }));
    const path = { id: sweep };
    await open(`/sweeps/${sweep}?metric=episode%2Freward%2Fmean`);
    await page.getByText('done', { exact: true }).waitFor({ timeout: 30_000 });
    const legend = page.locator('.u-legend');
    await legend.getByText('batches=3 · 1 of 1 child', { exact: true }).waitFor();
    await page.locator('.in-numbers summary').click();
    const query = { metric: 'episode/reward/mean', limit: 5 };
    const { items } = await client.get('/v1/sweeps/{id}/series', { path, query });
    const means = items.flatMap(({ points }) => points.map(({ mean }) => Number(mean!.toPrecision(6))));
    assert.equal(means.length, 5);
    const shown = await page.locator('.in-numbers tbody td:nth-child(4)').allInnerTexts();
    assert.deepEqual(shown.map(Number), means);
    assert.deepEqual(watched.problems, []);
  });

  test('the list is filtered by the outcome of rows and by the estimator, in the address', async () => {
    await open('/experiments?outcome=wrong');
    await page.locator(`a[href="/experiments/${faulty}"]`).waitFor();
    await page.getByRole('combobox', { name: 'With' }).selectOption('unverifiable');
    await page.getByText('No experiment matches these filters').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('outcome'), 'unverifiable');
    await open('/experiments?outcome=wrong&estimator=none-of-these');
    await page.getByText('No experiment matches these filters').waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await page.locator(`a[href="/experiments/${faulty}"]`).waitFor();
    assert.equal(new URL(page.url()).search, '');
  });

  test('the first screen shows a succeeded experiment with a wrong signal in red, once', async () => {
    await open('/');
    const entry = page.locator('.entries li', { has: page.locator(`a[href="/experiments/${faulty}"]`) });
    await entry.waitFor();
    assert.equal(await entry.count(), 1);
    const badge = entry.locator('.badge');
    assert.equal(await badge.textContent(), 'succeeded, signal wrong');
    const colourOf = (selector: string) =>
      page.locator(selector).first().evaluate('(element) => getComputedStyle(element).color');
    assert.equal(await colourOf('.badge.s-signal-wrong'), await colourOf('.outcome.wrong'));
  });

  test('a late answer for an old filter does not replace the list of the new filter', async () => {
    await open('/experiments');
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    await page.route(/experiments\?.*search=no-such-name/, async (route) => {
      asked.resolve();
      await answered.promise;
      await route.continue().catch(() => {}); // the page may have given it up
    });
    const filterBy = async (name: string) => {
      await page.fill('[data-filter]', name);
      await page.keyboard.press('Enter');
    };
    await filterBy('no-such-name');
    await asked.promise;
    await filterBy(FAULT.name.slice(0, 3));
    const row = page.locator(`a[href="/experiments/${faulty}"]`);
    await row.waitFor();
    answered.resolve();
    await page.unrouteAll({ behavior: 'wait' });
    assert.equal(await row.count(), 1);
    assert.equal(await page.getByText('No experiment matches').count(), 0);
  });

  test('an experiment that is submitted elsewhere appears without a reload and leaves a text that is being typed', async () => {
    await open('/experiments');
    await page.getByText('Live', { exact: true }).waitFor();
    await page.fill('[data-filter]', 'sub');
    const { id } = await installation.client.post('/v1/experiments', {
      body: { ...FAULT, name: 'submitted elsewhere' } as never,
    });
    await page.locator(`a[href="/experiments/${id}"]`).waitFor();
    assert.equal(await page.inputValue('[data-filter]'), 'sub');
  });

  test('markup in names is shown as text', async () => {
    const id = await installation.finished({ ...FAULT, name: HOSTILE } as never);
    for (const path of ['/experiments', `/experiments/${id}`, `/experiments/${id}/batches/1/1`]) {
      await open(path);
      await page.getByText(HOSTILE).first().waitFor();
    }
    assert.deepEqual(watched.problems, []);
  });

  test('a bundle is verified in the page while the network is cut, with the counts of the API', async () => {
    const path = { id: faulty, attempt: 1, batch: 1 };
    const bundle = await installation.client.open('/v1/experiments/{id}/batches/{attempt}/{batch}/bundle', {
      path,
    });
    const { report } = await installation.client.get('/v1/experiments/{id}/batches/{attempt}/{batch}', {
      path,
    });
    const buffer = Buffer.from(await bundle.arrayBuffer());
    await open('/verify');
    // The parts of the screen that load when they are first needed are there after the first file.
    const input = page.locator('input[type=file]');
    await input.setInputFiles({ name: 'bundle.json.gz', mimeType: 'application/gzip', buffer });
    await page.getByText('1 batch verified, 1 not ok').waitFor();
    await page.context().setOffline(true);
    await input.setInputFiles({ name: 'again.json.gz', mimeType: 'application/gzip', buffer });
    await page.getByText('echelon verify again.json.gz').waitFor();
    const outcomes = page.locator('td .outcome-bar').first();
    await outcomes.waitFor();
    const { exact, wrong } = report!;
    assert.match(
      (await outcomes.getAttribute('aria-label'))!,
      new RegExp(`^${exact} exact, .*${wrong} wrong`),
    );
    await page.getByRole('button', { name: 'wrong', exact: true }).click();
    await page.locator('.row-table .link').first().click();
    await page.locator('.explained .outcome.wrong').first().waitFor();
    await page.context().setOffline(false);
    assert.deepEqual(
      watched.problems.filter((text) => !/ERR_INTERNET_DISCONNECTED/.test(text)),
      [],
    );
    watched.problems.length = 0;
  });

  test('dumps of other trainers are verified in the page without a network, with the numbers of the command line', async () => {
    await using tables = await folder();
    const table = await tables.write('run.csv', CSV);
    const { page: own, problems } = await openPage(browser, {
      ignored: /ERR_INTERNET_DISCONNECTED|status of 401/,
    });
    const verifier = own.waitForResponse(/verifier-thread/);
    await signIn(own, installation.url, installation.token, '/verify');
    const input = own.locator('input[type=file]');
    await input.waitFor({ state: 'attached' });
    await (await verifier).finished();
    await own.context().setOffline(true);
    for (const files of [...DUMPED.map((names) => names.map((name) => `${DUMPS}/${name}`)), [table]]) {
      const printed: string[] = [];
      const stdout = { write: (text: string) => void printed.push(text) };
      const dumps = files.filter((file) => !/args/.test(file));
      await verifyFiles(dumps, { json: true }, { stdout, stderr: process.stderr } as never);
      const expected = JSON.parse(printed.join('')).batches as BatchReport[];
      await input.setInputFiles(files);
      await own.getByRole('button', { name: expected.at(-1)!.name, exact: true }).waitFor();
      const bars = await own.locator('td .outcome-bar').all();
      const shown = await Promise.all(bars.map((bar) => bar.getAttribute('aria-label')));
      const inCommandLine = expected.map((report) => inWords(report, report.rows));
      assert.deepEqual(shown, inCommandLine, files[0]);
      await own.locator('.row-table .link').first().click();
      await own.locator('.drawer .explained').waitFor();
      await own.keyboard.press('Escape');
    }
    assert.deepEqual(problems, []);
    await own.context().close();
  });

  test('dumps of optimizer steps are verified in the page, with the chain of the token that breaks', async () => {
    await open('/verify');
    const input = page.locator('input[type=file]');
    const tokens = ['rank_0', 'rank_1'].map((rank) => `token_exports/step_3/${rank}.jsonl`);
    await input.setInputFiles(tokens.map((name) => `${DUMPS}/prime-rl-tokens/wrong/${name}`));
    await page.getByText('1 batch verified, 1 not ok').waitFor();
    await page.getByText(/is WRONG, broken at the stage ratio/).waitFor();
    await input.setInputFiles(`${DUMPS}/skyrl/dumped_data/global_step_4_training_input.pkl`);
    await page.getByRole('heading', { name: 'step 4' }).waitFor();
    await page.getByLabel('Read as').selectOption('slime-steps');
    await input.setInputFiles(`${DUMPS}/slime/train_data/0_0.pt`);
    await page.getByRole('heading', { name: 'step 0' }).waitFor();
    await page.locator('.step-tokens .token').first().waitFor();
    assert.deepEqual(watched.problems, []);
  });

  test('a user goes from the sign-in to the explanation of a row with the keyboard alone', async () => {
    const { page: own, problems } = await openPage(browser, { ignored: /status of 401/ });
    await own.goto(`${installation.url}/experiments`);
    await own.keyboard.type(installation.token);
    await own.keyboard.press('Enter');
    await own.locator(`a[href="/experiments/${faulty}"]`).waitFor();
    await enter(own, `a[href="/experiments/${faulty}"]`);
    const why = own.getByRole('link', { name: 'Why?' });
    await why.waitFor();
    await enter(own, `a[href="${await why.getAttribute('href')}"]`);
    await own.locator('.row-table .link').first().waitFor();
    await enter(own, '.row-table .link');
    await own.locator('.drawer .explained').waitFor();
    await own.keyboard.press('Escape');
    await own.locator('.drawer').waitFor({ state: 'detached' });
    assert.deepEqual(problems, []);
    await own.context().close();
  });

  test('a key of another project sees nothing of the experiment, and no screen shows the key', async () => {
    const { client, url } = installation;
    await client.post('/v1/projects', { body: { name: 'other' } });
    const { token } = await client.post('/v1/keys', {
      body: { name: 'of other', project: 'other', scopes: ['read'] },
    });
    const { page: own, problems } = await openPage(browser, { ignored: /status of 40[134]/ });
    await signIn(own, url, token, '/experiments');
    const paths = [
      '/',
      '/experiments',
      '/sweeps',
      '/queue',
      '/clusters',
      '/rules',
      '/notifications',
      '/access',
      '/system',
      '/submit',
      '/verify',
    ];
    const ofBatch = `/experiments/${faulty}/batches/1/1`;
    const named = [
      `/experiments/${faulty}`,
      ofBatch,
      `/compare?id=${faulty}`,
      `/sweeps/${sweep}`,
      `${ofBatch}?row=12`,
      `${ofBatch}/same-state?row=12`,
      `${ofBatch}/trajectory?name=10.0.1&step=4`,
      ...['verification', 'logs', 'attempts', 'spec'].map((tab) => `/experiments/${faulty}?tab=${tab}`),
    ];
    for (const path of [...paths, ...named]) {
      await own.goto(`${url}${path}`);
      await own.locator('h1, h2').first().waitFor();
      for (const one of await own.locator('.state.loading').all()) await one.waitFor({ state: 'detached' });
      const content = await own.content();
      for (const name of [FAULT.name, 'a sweep', '10.0.1"', 'zero-levels-kept'])
        assert.ok(!content.includes(name), `${path} shows ${name}`);
      if (!named.includes(path)) assert.ok(!content.includes(faulty), `${path} shows the id`);
      assert.ok(!content.includes(token), `${path} shows the key`);
    }
    assert.deepEqual(problems, []);
    await own.context().close();
  });

  test('an optimizer step shows its stages, the layout, and the chain of the token that breaks', async () => {
    step = await installation.finished({
      ...{ name: 'a faulty step', engine: 'local', estimator: { name: 'grpo' }, observations: 'texts' },
      training: { steps: 1, captureEvery: 1, fault: 'token-mean-per-micro-batch' },
      ...{ rollout: { groups: 2, groupSize: 4 }, evaluation: { games: 1 } },
    } as never);
    await open(`/experiments/${step}`);
    await page.locator('.stage-strips a.wrong').filter({ hasText: 'gradient wrong' }).click();
    await page.getByText('token-mean per micro-batch; you said').waitFor();
    await page.locator('.step-layout .micro-batch').nth(3).waitFor();
    assert.equal(await page.locator('.step-layout .micro-batch').count(), 4);
    await page.locator('.step-tokens .token.wrong').nth(1).click();
    await page.getByText(/Token \d+ of row 0 of update 8 is WRONG, broken at the stage gradient/).waitFor();
    assert.deepEqual(watched.problems, []);
  });

  // The other screens: workbench.test.ts.
  test('axe finds nothing serious on the screens of a wrong batch, of its step and of nothing found', async () => {
    const found: string[] = [];
    for (const path of [
      '/access?tab=projects',
      '/access?tab=audit',
      '/experiments?search=nothing',
      '/verify?sample=1',
      `/experiments/${faulty}`,
      `/experiments/${faulty}?tab=verification`,
      `/experiments/${faulty}?tab=attempts`,
      `/experiments/${faulty}?tab=spec`,
      `/experiments/${faulty}/batches/1/1?row=1`,
      `/experiments/${step}/batches/1/2`,
      `/experiments/${faulty}/batches/1/1/trajectory?name=10.0.1&step=4`,
      `/experiments/${faulty}/batches/1/1/same-state?row=12`,
      '/experiments/exp-00000000000000000000',
    ]) {
      await page.goto(`${installation.url}${path}`);
      await page.locator('h1, h2').first().waitFor();
      for (const one of await page.locator('.state.loading').all()) await one.waitFor({ state: 'detached' });
      found.push(...(await seriousFindings(page)).map((finding) => `${path}: ${finding}`));
    }
    assert.deepEqual(found, []);
  });

  test('the page says that its stream is interrupted, and continues after a restart of the api', async () => {
    await open('/experiments');
    await page.getByText('Live', { exact: true }).waitFor();
    await installation.stopServices();
    await page.getByText('The event stream is interrupted').waitFor();
    await installation.startServices();
    await page.getByText('Live', { exact: true }).waitFor({ timeout: 20_000 });
  });
});
