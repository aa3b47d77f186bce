import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { createClient } from '../../../src/cli/client.ts';
import { readLogin } from '../../../src/cli/connection.ts';
import { makeProjects } from '../../support/access.ts';
import { NO_BROWSER, openBrowser, openPage } from '../../support/browser.ts';
import { appFor } from '../../support/http-app.ts';
import { OIDC_CLIENT, type OpenIdProvider, openIdProviderFor } from '../../support/openid-provider.ts';
import { freePort } from '../../support/redis.ts';
import { type Scope, storeFor } from '../../support/store.ts';

const MINUTE = 60 * 1000;
const HOUR = 60 * MINUTE;

describe('sign-in by an OpenID provider', { skip: NO_BROWSER }, () => {
  const resources = new AsyncDisposableStack();
  const scope: Scope = { after: (release) => void resources.defer(release) };
  let browser: Browser;
  let provider: OpenIdProvider;
  let store: Awaited<ReturnType<typeof storeFor>>['store'];
  let url: string;
  let now = () => Date.now();

  const settingsOf = (publicUrl: string, issuer: string) => ({
    publicUrl,
    oidc: {
      ...OIDC_CLIENT,
      issuer,
      scopes: 'openid email',
      groupsClaim: 'groups',
      grants: [
        { group: 'operators', project: null, scopes: ['read', 'submit', 'admin'] as const },
        { group: 'vision', project: 'vision', scopes: ['read'] as const },
        { group: 'lost', project: 'no-project', scopes: ['read'] as const },
      ],
    },
  });

  before(async () => {
    browser = await openBrowser(resources);
    ({ store } = await storeFor(scope));
    await makeProjects(store, 'vision');
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    provider = await openIdProviderFor(scope, url);
    const { app } = await appFor(scope, {
      store,
      settings: settingsOf(url, provider.issuer),
      now: () => now(),
    });
    await app.listen({ host: '127.0.0.1', port });
    await provider.change({ people: { ann: ['staff', 'vision'], bob: ['operators'], eve: ['others'] } });
  });
  after(() => resources.disposeAsync());

  /** A page with an empty profile. */
  async function pageFor(t: Scope): Promise<Page> {
    const { page } = await openPage(browser, { ignored: /./ });
    t.after(() => page.context().close());
    return page;
  }

  /** Says who it is at the provider, and consents. */
  async function passProvider(page: Page, name: string): Promise<void> {
    await page.fill('input[name=login]', name);
    await page.fill('input[name=password]', 'any');
    await page.click('button[type=submit]');
    await page.click('button[type=submit]');
  }

  async function signIn(page: Page, name: string): Promise<void> {
    await page.goto(`${url}/login`);
    await page.click('text=Sign in with your organisation');
    await passProvider(page, name);
  }

  type Caller = { id: string; name: string; project: string | null; scopes: string[] };
  const callerOf = (page: Page): Promise<Caller> =>
    page.evaluate(() => fetch('/v1/caller').then((answer) => answer.json() as Promise<Caller>));
  const statusOf = (page: Page, path = '/v1/caller', method = 'GET') =>
    page.evaluate(([at, how]) => fetch(at!, { method: how! }).then(({ status }) => status), [path, method]);

  test('a member of a group signs in with the project and scopes of the group, and signs out', async (t) => {
    const page = await pageFor(t);
    await page.goto(`${url}/experiments`);
    await page.click('text=Sign in with your organisation');
    await passProvider(page, 'ann');
    await page.waitForURL(`${url}/experiments`);
    const { name, project, scopes } = await callerOf(page);
    assert.deepEqual([name, project, scopes], ['ann@example.org', 'vision', ['read']]);
    assert.equal(await statusOf(page, '/v1/keys'), 403);
    const cookies = await page.context().cookies(url);
    const session = cookies.find((one) => one.name === 'echelon_session')!;
    assert.deepEqual([session.httpOnly, session.sameSite], [true, 'Strict']);
    assert.ok(!cookies.some((one) => one.name === 'echelon_oidc'));
    await statusOf(page, '/logout', 'POST');
    // The cookie as it was is of no use any more.
    await page.context().addCookies([session]);
    assert.equal(await statusOf(page), 401);
  });

  test('a session ends after 12 hours, and at once when the key of the person is revoked', async (t) => {
    const page = await pageFor(t);
    await signIn(page, 'bob');
    await page.waitForURL(`${url}/`);
    assert.equal(await statusOf(page, '/v1/keys'), 200);
    const { id } = await callerOf(page);
    now = () => Date.now() + 12 * HOUR + 1000;
    t.after(async () => {
      now = () => Date.now();
    });
    assert.equal(await statusOf(page), 401);
    now = () => Date.now();
    assert.equal(await statusOf(page), 200);
    await store.access.changeKey(id, (key) => ({ ...key, revokedAt: Date.now() }));
    assert.equal(await statusOf(page), 401);
  });

  test('a person without a group, with a group of a deleted project, or whom the provider has revoked is refused', async (t) => {
    const page = await pageFor(t);
    await signIn(page, 'eve');
    await page.getByText('eve@example.org is in no group that may use this installation').waitFor();
    assert.equal(await statusOf(page), 401);
    await provider.change({ people: { ann: ['vision'], bob: ['operators'], eve: ['lost'] } });
    await page.goto(`${url}/login`);
    await page.click('text=Sign in with your organisation');
    await page.getByText('The project no-project of your group does not exist').waitFor();
    await provider.change({ people: { ann: ['vision'], bob: ['operators'] } });
    await page.goto(`${url}/login`);
    await page.click('text=Sign in with your organisation');
    await page.waitForURL((at) => at.origin === provider.issuer);
    assert.equal(
      await page
        .context()
        .cookies(url)
        .then((all) => all.some((one) => one.name === 'echelon_session')),
      false,
    );
  });

  /** A way to the provider and back, as far as the callback: its address, and the cookie that belongs to it. */
  async function walk(t: Scope): Promise<{ callback: URL; cookie: string }> {
    const begun = await fetch(`${url}/login/oidc`, { redirect: 'manual' });
    const cookie = begun.headers.getSetCookie()[0]!.split(';', 1)[0]!;
    const page = await pageFor(t);
    let callback = '';
    page.on('request', (request) => {
      if (request.url().includes('/login/oidc/callback')) callback = request.url();
    });
    await page.goto(begun.headers.get('location')!);
    await passProvider(page, 'ann');
    // This browser has not begun the way, so it is refused; the code is not used yet.
    await page.getByText('This sign-in has expired or was already used').waitFor();
    return { callback: new URL(callback), cookie };
  }

  async function comeBack(callback: URL, cookie?: string) {
    const answer = await fetch(callback, { headers: cookie ? { cookie } : {}, redirect: 'manual' });
    const hasSession = answer.headers.getSetCookie().some((one) => one.startsWith('echelon_session='));
    return { status: answer.status, hasSession, body: await answer.text() };
  }

  test('a callback works once, and only with the cookie of the browser that began', async (t) => {
    const { callback, cookie } = await walk(t);
    const signedIn = await comeBack(callback, cookie);
    assert.deepEqual([signedIn.status, signedIn.hasSession], [200, true], signedIn.body);
    for (const again of [cookie, undefined]) {
      const { status, hasSession } = await comeBack(callback, again);
      assert.deepEqual([status, hasSession], [401, false]);
    }
    // Another way that shows the used code.
    const other = await walk(t);
    other.callback.searchParams.set('code', callback.searchParams.get('code')!);
    const replayed = await comeBack(other.callback, other.cookie);
    assert.deepEqual([replayed.status, replayed.hasSession], [401, false]);
    assert.match(replayed.body, /The sign-in was refused \(invalid_grant\)/);
  });

  test('an answer of another issuer, or for another state, is refused', async (t) => {
    for (const [name, value] of [
      ['iss', 'https://other.example.org'],
      ['state', 'x'.repeat(43)],
    ] as const) {
      const { callback, cookie } = await walk(t);
      callback.searchParams.set(name, value);
      const { status, hasSession, body } = await comeBack(callback, cookie);
      assert.deepEqual([status, hasSession], [401, false], body);
      assert.match(body, /The sign-in was refused/);
    }
  });

  test('a provider that calls itself another issuer, or does not answer, gives 503, and API keys still work', async (t) => {
    for (const issuer of [provider.issuer.replace('127.0.0.1', 'localhost'), 'http://127.0.0.1:9']) {
      const { call } = await appFor(t, { store, settings: settingsOf('http://echelon.test', issuer) });
      const answer = await call('GET', '/login/oidc', { token: null });
      assert.equal(answer.statusCode, 503, answer.body);
      assert.equal(answer.json().code, 'identity-unavailable');
      assert.equal((await call('GET', '/v1/caller')).statusCode, 200);
    }
  });

  test('a clock of the provider that differs by half a minute is accepted, one that differs by ten minutes is refused', async (t) => {
    t.after(() => provider.change({ clockMs: 0 }));
    for (const [clockMs, isAccepted] of [
      [30_000, true],
      [-30_000, true],
      [10 * MINUTE, false],
      [-10 * MINUTE, false],
    ] as const) {
      await provider.change({ clockMs });
      const page = await pageFor(t);
      await signIn(page, 'ann');
      if (isAccepted) await page.waitForURL(`${url}/`);
      else await page.getByText('The sign-in was refused').waitFor();
      assert.equal(await statusOf(page), isAccepted ? 200 : 401, `${clockMs}`);
    }
  });

  describe('echelon login', () => {
    /** Runs the command; its token afterwards, and what it printed. `act` gets the text that asks the person. */
    async function login(t: Scope, argv: string[], act: (said: string) => Promise<void>) {
      const folder = await mkdtemp(join(tmpdir(), 'echelon-login-'));
      t.after(() => rm(folder, { recursive: true, force: true }));
      const child = spawn(
        process.execPath,
        ['bin/start.mjs', 'login', '--url', url, '--state-dir', folder, ...argv],
        { env: { PATH: '/nowhere', HOME: folder, DISPLAY: ':nowhere' }, stdio: ['ignore', 'pipe', 'pipe'] },
      );
      t.after(async () => void child.kill('SIGKILL'));
      let [said, isAsked] = ['', false];
      const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          said += text;
          if (isAsked || !/https?:\S+\s*$|code \S+\.\s*$/.test(said)) return;
          isAsked = true;
          void act(said);
        });
      assert.equal(await ended, 0, said);
      const { token } = (await readLogin(folder))!;
      assert.match(said, /Signed in as ann@example\.org until .*: read in the project vision\./);
      assert.ok(!said.includes(token));
      const caller = await createClient({ url, token }).get('/v1/caller', {});
      assert.deepEqual([caller.name, caller.project], ['ann@example.org', 'vision']);
      return token;
    }

    test('the browser comes back to the command with a code that is of use only once and to this command', async (t) => {
      const page = await pageFor(t);
      let sent = '';
      await login(t, [], async (said) => {
        page.on('request', (request) => {
          if (/^http:\/\/127\.0\.0\.1:\d+\/\?code=/.test(request.url())) sent = request.url();
        });
        await page.goto(/http\S+/.exec(said.slice(said.indexOf('this machine')))![0]);
        assert.match(said, new RegExp(`Confirm the code ${await page.locator('code').last().textContent()}`));
        await page.click('button');
        await passProvider(page, 'ann');
        await page.getByText('You are signed in').waitFor();
      });
      const code = new URL(sent).searchParams.get('code');
      const answer = await fetch(`${url}/login/token`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code, verifier: 'x'.repeat(43) }),
      });
      assert.equal(answer.status, 401);
    });

    test('without a browser, a person confirms a code on another device', async (t) => {
      const page = await pageFor(t);
      await login(t, ['--device'], async (said) => {
        await page.goto(/http\S+/.exec(said)![0]);
        await page.click('button[type=submit]');
        await passProvider(page, 'ann');
      });
    });
  });
});
