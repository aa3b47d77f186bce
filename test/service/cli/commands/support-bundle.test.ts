import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeKey } from '../../../support/access.ts';
import { startBench } from '../../../support/dispatch.ts';
import { appFor, TOKEN } from '../../../support/http-app.ts';
import { type Scope, submitInput } from '../../../support/store.ts';

/** Values that a bundle must not have, in every place where the system has one. */
const CANARIES = {
  redisPassword: 'canary-redis-password-1',
  cookieSecret: 'canary-cookie-secret-of-32-characters',
  apiToken: 'canary-token-of-the-api-2',
  bucketKey: 'canary-secret-key-of-bucket-3',
  localToken: 'canary-local-token-of-up-4',
  rayToken: 'canary-token-of-a-ray-cluster-5',
  tracker: 'hf_CanaryCanaryCanaryCanary1234',
};

/** Releases in reverse order when the test is over. */
function reversed(t: Scope): Scope {
  const resources = new AsyncDisposableStack();
  t.after(() => resources.disposeAsync());
  return { after: (release) => void resources.defer(release) };
}

test('a support bundle has the state of the installation and none of its secrets', async (context) => {
  const t = reversed(context);
  const folder = await mkdtemp(join(tmpdir(), 'echelon-support-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const bench = await startBench();
  t.after(() => bench.stop());
  const { store } = bench;
  await bench.dispatcher({
    pack: () => assert.fail('a preflight installs nothing'),
  });
  const [fake] = await store.clusters.list();
  const place = { address: 'ray://head:10001', token: CANARIES.rayToken, tls: null, sharedRoot: '/s' };
  await store.clusters.put({
    ...fake!,
    name: 'away',
    address: '127.0.0.1:9',
    ray: { ...place, node: null, port: null, advertise: null },
  });
  const { token } = await makeKey(store, { scopes: ['admin', 'read'], name: 'an operator' });
  const failing = await bench.submit({ steps: 1, exitCode: 3 });
  await bench.reaches(failing, 'failed');
  const named = { name: `uses ${CANARIES.tracker}`, gpus: 64 };
  await store.experiments.submit(submitInput(named));
  const { app } = await appFor(t, { store });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });

  await mkdir(join(folder, 'logs'));
  const line = (level: number, msg: string) => `${JSON.stringify({ level, time: 1, msg })}\n`;
  await writeFile(
    join(folder, 'logs', 'echelon.log'),
    line(30, 'all is well') + line(50, `refused ${CANARIES.redisPassword} and ${CANARIES.tracker}`),
  );
  const local = { url: 'http://127.0.0.1:1', token: CANARIES.localToken, pid: 1 };
  await writeFile(join(folder, 'connection.json'), JSON.stringify(local));
  await writeFile(join(folder, 'cookie-secret'), CANARIES.cookieSecret);
  const file = join(folder, 'bundle.tar.gz');
  const argv = ['support-bundle', file, '--url', url, '--state-dir', folder];
  const child = spawn(process.execPath, ['bin/start.mjs', ...argv], {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      ECHELON_TOKEN: token,
      REDIS_URL: `redis://user:${CANARIES.redisPassword}@127.0.0.1:6379`,
      ECHELON_TOKENS: `${TOKEN},${CANARIES.apiToken}`,
      ECHELON_COOKIE_SECRET_FILE: join(folder, 'cookie-secret'),
      ECHELON_BACKUP_SECRET_KEY: CANARIES.bucketKey,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = await Promise.all(
    [child.stdout, child.stderr].map((stream) => stream.setEncoding('utf8').toArray()),
  );
  if (child.exitCode === null) await once(child, 'exit');
  assert.equal(child.exitCode, 0, written.flat().join(''));
  assert.equal((await stat(file)).mode & 0o777, 0o600);

  const contents = join(folder, 'contents');
  await mkdir(contents);
  execFileSync('tar', ['-xzf', file, '-C', contents]);
  const texts: Record<string, string> = {};
  for (const name of await readdir(contents)) texts[name] = await readFile(join(contents, name), 'utf8');
  const all = Object.values(texts).join('\n') + written.flat().join('');
  for (const [name, value] of Object.entries({ ...CANARIES, token, api: TOKEN }))
    assert.ok(!all.includes(value), `${name} is in the bundle`);

  // What is no secret is there: the search above would find a leak.
  const json = (name: string) => JSON.parse(texts[`${name}.json`] ?? 'null');
  assert.deepEqual(Object.keys(json('missing')), ['metrics.txt']);
  assert.equal(json('settings').ECHELON_COOKIE_SECRET, true);
  assert.equal(json('settings').ECHELON_LEASE_MS, 15_000);
  assert.equal(json('versions').node, process.version);
  assert.equal(json('failed').items[0].id, failing);
  assert.match(json('queue').items[0].name, /^uses \*\*\*/);
  assert.equal(json('clusters').items[1].name, 'fake');
  assert.deepEqual([json('preflight')[0].cluster, json('preflight').length], ['fake', 1]);
  assert.notEqual(json('preflight')[0].state, 'queued');
  assert.match(texts['errors.txt']!, /refused \*\*\* and \*\*\*/);
  assert.doesNotMatch(texts['errors.txt']!, /all is well/);
  assert.ok(json('system').checks.length > 4);
});
