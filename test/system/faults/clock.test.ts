import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Bench, startBench } from '../../support/dispatch.ts';
import { spawnPart } from '../../support/dispatcher-processes.ts';
import { freePort } from '../../support/redis.ts';

const HOUR_MS = 3_600_000;
const TOKEN = 'token-of-the-test-0123456789abcdef';

describe('two replicas of the api whose clocks differ by an hour', () => {
  let bench: Bench;
  const urls = { ahead: '', right: '' };
  const resources = new AsyncDisposableStack();
  const releases = { after: (release: () => Promise<void>) => resources.defer(release) };
  before(async () => {
    bench = await startBench();
    resources.defer(() => bench.stop());
    urls.ahead = await start(HOUR_MS);
    urls.right = await start(0);
  });
  after(() => resources.disposeAsync());

  async function start(clockMs: number): Promise<string> {
    const port = await freePort();
    const setup = {
      url: bench.server.url,
      archive: join(bench.directory, 'archive'),
      port,
      token: TOKEN,
      clockMs,
    };
    await spawnPart(releases, { script: 'api-process.ts', name: 'api', setup }).says('ready');
    return `http://127.0.0.1:${port}`;
  }

  async function signIn(url: string): Promise<string> {
    const body = JSON.stringify({ token: TOKEN });
    const answer = await fetch(`${url}/login`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(answer.status, 204);
    return answer.headers.get('set-cookie')!.split(';')[0]!;
  }
  async function signOut(url: string, cookie: string): Promise<void> {
    const headers = { cookie, origin: url };
    const answer = await fetch(`${url}/logout`, { method: 'POST', headers, redirect: 'manual' });
    assert.equal(answer.status, 303);
  }
  const status = async (url: string, cookie: string) =>
    (await fetch(`${url}/v1/experiments`, { headers: { cookie } })).status;

  // Fails where a sign-in and a sign-out are dated by the clocks of the replicas.
  test('a sign-out at one ends the sessions of the other, and the next sign-in holds', async () => {
    const cookie = await signIn(urls.ahead);
    assert.equal(await status(urls.right, cookie), 200);
    await signOut(urls.right, cookie);
    assert.deepEqual([await status(urls.right, cookie), await status(urls.ahead, cookie)], [401, 401]);

    const next = await signIn(urls.right);
    await signOut(urls.ahead, next);
    const last = await signIn(urls.right);
    assert.deepEqual([await status(urls.right, last), await status(urls.ahead, last)], [200, 200]);
  });

  // Fails where the lifetime of a link, a minute, is judged by another clock than the one that dated it.
  test('a link to sign in, made by one, is accepted by the other', async () => {
    for (const [from, to] of [
      [urls.ahead, urls.right],
      [urls.right, urls.ahead],
    ] as const) {
      const headers = { authorization: `Bearer ${TOKEN}` };
      const made = await fetch(`${from}/v1/login-links`, { method: 'POST', headers });
      assert.equal(made.status, 201);
      const { path } = (await made.json()) as { path: string };
      assert.equal((await fetch(`${to}${path}`, { redirect: 'manual' })).status, 303);
    }
  });
});
