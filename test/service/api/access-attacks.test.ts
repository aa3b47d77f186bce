import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { newExperimentId } from '../../../src/core/ids.ts';
import { SCOPES } from '../../../src/core/scopes.ts';
import { newKeyId, newKeyToken } from '../../../src/http/access/callers.ts';
import { makeChild } from '../../../src/plan/sweep.ts';
import { makeKey, makeProjects } from '../../support/access.ts';
import { addEngine } from '../../support/add-engine.ts';
import { COUNTDOWN } from '../../support/countdown/engine.ts';
import { until } from '../../support/dispatch.ts';
import { openStream } from '../../support/event-stream.ts';
import { appFor, LOCAL, REPLAY, TOKEN } from '../../support/http-app.ts';
import { storeThrough } from '../../support/made-up-store.ts';
import { claimed, clusterRecord, running, storeFor, submitInput } from '../../support/store.ts';

/*
 * Attacks on identity, each with the expected answer. access.test.ts checks that every route refuses callers without a
 * token, without its scope, or of another project.
 */

const { store, redis } = await storeFor({ after });
await makeProjects(store, 'mine', 'theirs');
const appOf = (limits: object = {}) =>
  appFor({ after }, { store, limits: { failedSignIns: 1e6, ...limits } });

describe('invalid keys', () => {
  test('every invalid key gets the same 401, and a key in the query is noted in the audit log', async () => {
    const { call } = await appOf();
    const { id, token } = await makeKey(store);
    const revoked = await makeKey(store, { revokedAt: 1 });
    const expired = await makeKey(store, { expiresAt: 1 });
    const answers = new Set<string>();
    const authorizations = [
      undefined,
      'Bearer',
      `Bearer ${token}x`,
      `Bearer ${token.slice(0, -1)}`,
      `Bearer ${token.toUpperCase()}`,
      `Bearer ${newKeyToken(id).token}`,
      `Bearer ${newKeyToken(newKeyId()).token}`,
      `Bearer echelon_${id}_`,
      `Bearer ${revoked.token}`,
      `Bearer ${expired.token}`,
      `Basic ${Buffer.from(`${token}:`).toString('base64')}`,
      `Token ${token}`,
      token,
    ];
    for (const authorization of authorizations) {
      const headers = authorization === undefined ? {} : { authorization };
      const response = await call('GET', '/v1/experiments', { token: null, headers });
      assert.equal(response.statusCode, 401, authorization);
      answers.add(JSON.stringify([response.body, response.headers['www-authenticate']]));
    }
    for (const query of [`access_token=${token}`, `token=${TOKEN}`, `api_key=${token}`]) {
      const response = await call('GET', `/v1/experiments?${query}`, { token: null });
      answers.add(JSON.stringify([response.body, response.headers['www-authenticate']]));
    }
    assert.equal(answers.size, 1);
    await until(async () => {
      const log = await store.audit.page(10, undefined);
      return log.filter(({ note }) => note?.includes('the query seems to contain a token')).length === 3;
    }, 'the query is pointed out');
    assert.ok(!JSON.stringify(await store.audit.page(1000, undefined)).includes(token));
  });

  test('every invalid key causes the same store calls, so that the time reveals nothing', async () => {
    const asked: string[] = [];
    const spied = storeThrough(store, (path, call) => {
      asked.push(path);
      return call();
    });
    const { call } = await appFor({ after }, { store: spied, limits: { failedSignIns: 1e6 } });
    const { id } = await makeKey(store);
    const revoked = await makeKey(store, { revokedAt: 1 });
    const calls = async (token: string) => {
      asked.length = 0;
      await call('GET', '/v1/experiments', { token });
      return asked.filter((name) => name !== 'audit.record').join();
    };
    await calls(newKeyToken(id).token);
    const seen = new Set<string>();
    for (const token of [newKeyToken(id).token, newKeyToken(newKeyId()).token, revoked.token]) {
      seen.add(await calls(token));
    }
    assert.deepEqual([...seen], ['access.version']);
  });
});

describe('guessing the secret of a known key', () => {
  test("guesses of a key's secret end in 429, from one address or many, and the key itself still works", async () => {
    const { app, call } = await appOf({ failedSignIns: 30 });
    const { id, token } = await makeKey(store);
    const guess = async (remoteAddress: string) =>
      (
        await app.inject({
          method: 'GET',
          url: '/v1/experiments',
          remoteAddress,
          headers: { host: 'echelon.test', authorization: `Bearer ${newKeyToken(id).token}` },
        })
      ).statusCode;
    const statuses: number[] = [];
    // Fails without the counter for each key: each address tries only once.
    for (let at = 0; at < 500; at += 1) statuses.push(await guess(`10.0.${at >> 8}.${at & 255}`));
    assert.deepEqual(new Set(statuses.slice(0, 30)), new Set([401]));
    assert.deepEqual(new Set(statuses.slice(30)), new Set([429]));
    assert.equal((await call('GET', '/v1/experiments', { token })).statusCode, 200);
    const one: number[] = [];
    for (let at = 0; at < 40; at += 1) one.push(await guess('10.9.9.9'));
    assert.equal(one.at(-1), 429);
    assert.equal((await call('GET', '/v1/experiments', { token })).statusCode, 200);
    // The audit log stores only the first refusals of a minute and counts the others.
    assert.ok((await redis.xlen('{echelon}:audit')) < 400);
  });
});

describe('an open stream', () => {
  for (const [what, end, reason] of [
    ['a revoked key', { revokedAt: 1 }, 'the key was revoked'],
    ['an expired key', { expiresAt: 1 }, 'the key has expired'],
    ['a rotated key', { digest: 'd'.repeat(64) }, 'the key was rotated'],
  ] as const) {
    test(`an open stream of ${what} is closed immediately, with the reason`, async (t) => {
      const { app } = await appOf();
      const origin = await app.listen({ host: '127.0.0.1', port: 0 });
      const { experiment } = await running(store);
      const { id, token } = await makeKey(store);
      const url = `${origin}/v1/experiments/${experiment}/events`;
      const headers = { authorization: `Bearer ${token}` };
      const stream = await openStream(t, url, headers);
      assert.equal((await stream.next())?.event, 'state');
      const other = await openStream(t, url);
      await store.access.changeKey(id, (key) => ({ ...key, ...end }));
      // Fails if open streams do not watch their key.
      const last = (await stream.rest()).at(-1);
      assert.equal(last?.event, 'closed');
      assert.deepEqual(JSON.parse(last.data), { reason });
      assert.equal((await openStream(t, url, headers)).response.status, 401);
      assert.equal((await other.next())?.event, 'state');
      await other.close();
    });
  }
});

test('a sign-out ends the streams and downloads of its sessions in every replica, and none of the key itself', async (t) => {
  const replicas = await Promise.all(
    [appOf(), appOf()].map(async (made) => {
      const { app, call } = await made;
      return { origin: await app.listen({ host: '127.0.0.1', port: 0 }), call };
    }),
  );
  const lease = await running(store);
  const line = 'x'.repeat(4000);
  for (let sequence = 1; sequence <= 40; sequence++) {
    const event = { type: 'log', source: 'stdout', lines: Array(64).fill(line), cutBytes: 0 } as const;
    await store.events.append(lease, [{ sequence, at: 0, event }]);
  }
  const below = `/v1/experiments/${lease.experiment}`;
  for (const token of [TOKEN, (await makeKey(store)).token]) {
    const signIn = await replicas[0]!.call('POST', '/login', { token: null, body: { token } });
    const cookie = String(signIn.headers['set-cookie']).split(';', 1)[0]!;
    const opened = await Promise.all(
      replicas.map(async ({ origin }) => {
        const session = await openStream(t, `${origin}${below}/events`, { cookie });
        const key = await openStream(t, `${origin}${below}/events`, { authorization: `Bearer ${token}` });
        assert.deepEqual([(await session.next())?.event, (await key.next())?.event], ['state', 'state']);
        const download = await fetch(`${origin}${below}/logs/download`, { headers: { cookie } });
        assert.equal(download.status, 200);
        return { session, key, download };
      }),
    );
    const headers = { cookie, origin: 'http://echelon.test' };
    const out = await replicas[0]!.call('POST', '/logout', { token: null, headers });
    assert.equal(out.statusCode, 303);
    for (const { session, key, download } of opened) {
      const last = (await session.rest()).at(-1);
      assert.equal(last?.event, 'closed');
      assert.deepEqual(JSON.parse(last.data), { reason: 'the session was signed out' });
      // 10 MB: more than waits for a client that has not read yet.
      await assert.rejects(download.text());
      assert.ok(await key.next());
      await key.close();
    }
  }
});

describe('a cookie', () => {
  test('a cookie has the project and scopes of its key, and ends with it', async () => {
    const { call } = await appOf();
    const { id, token } = await makeKey(store, { project: 'mine', scopes: ['read'] });
    const foreign = submitInput({ project: 'theirs' });
    await store.experiments.submit(foreign);
    const signIn = await call('POST', '/login', { token: null, body: { token } });
    const cookie = String(signIn.headers['set-cookie']).split(';', 1)[0]!;
    assert.ok(!cookie.includes(token.slice(-43)));
    const headers = { cookie, origin: 'http://echelon.test' };
    const by = (method: string, path: string, body?: unknown) =>
      call(method, path, { token: null, headers, ...(body === undefined ? {} : { body }) });
    assert.equal((await by('GET', '/v1/experiments')).statusCode, 200);
    assert.equal((await by('GET', `/v1/experiments/${foreign.id}`)).statusCode, 404);
    assert.equal((await by('POST', '/v1/experiments', REPLAY)).statusCode, 403);
    assert.equal((await by('GET', '/queues')).statusCode, 403);
    await store.access.changeKey(id, (key) => ({ ...key, revokedAt: 1 }));
    assert.equal((await by('GET', '/v1/experiments')).statusCode, 401);
  });

  test('a cookie from another site changes nothing, with any method', async () => {
    const { call } = await appOf();
    const signIn = await call('POST', '/login', { token: null, body: { token: TOKEN } });
    const cookie = String(signIn.headers['set-cookie']).split(';', 1)[0]!;
    const { id } = await makeKey(store);
    for (const origin of [undefined, 'null', 'http://evil.test', 'http://echelon.test.evil.test']) {
      const headers = { cookie, ...(origin === undefined ? {} : { origin }) };
      for (const [method, path] of [
        ['POST', '/v1/experiments'],
        ['PATCH', '/v1/projects/mine'],
        ['DELETE', '/v1/projects/mine'],
        ['DELETE', `/v1/keys/${id}`],
        ['DELETE', '/v1/clusters/local'],
      ] as const) {
        const body = method === 'DELETE' ? {} : { body: { weight: 5 } };
        const response = await call(method, path, { token: null, headers, ...body });
        assert.equal(response.statusCode, 403, `${method} ${path} from ${origin}`);
      }
    }
    assert.equal((await store.projects.get('mine'))?.weight, 1);
    assert.equal((await store.access.keys()).find((key) => key.id === id)?.revokedAt, null);
    // A foreign Host header, as in DNS rebinding.
    const rebound = await call('GET', '/v1/experiments', { headers: { host: 'evil.test' } });
    assert.equal(rebound.statusCode, 403);
  });
});

describe('endpoints beside the API', () => {
  test('the board needs the scope admin and refuses writes, and the API port has no metrics or profiler', async () => {
    const { call } = await appOf();
    const { token } = await makeKey(store, { scopes: ['read', 'submit', 'custom-code'] });
    for (const path of ['/queues', '/queues/', '/queues/api/queues']) {
      assert.equal((await call('GET', path, { token: null })).statusCode, 401, path);
      assert.equal((await call('GET', path, { token })).statusCode, 403, path);
    }
    assert.equal((await call('PUT', '/queues/api/queues/x/retry/failed', {})).statusCode, 405);
    for (const path of ['/metrics', '/debug/pprof', '/inspector', '/.env', '/v1/../metrics']) {
      assert.equal((await call('GET', path, { token: null })).statusCode, 401, path);
      assert.equal((await call('GET', path)).statusCode, 404, path);
    }
    assert.deepEqual((await call('GET', '/healthz', { token: null })).json(), { status: 'ok' });
  });
});

describe('cursors', () => {
  test('a forged cursor, or a cursor of another project, filter or list, is refused', async () => {
    const { call } = await appOf();
    for (const project of ['mine', 'theirs']) {
      for (let at = 0; at < 3; at += 1) await store.experiments.submit(submitInput({ project }));
    }
    const [mine, theirs] = [
      await makeKey(store, { project: 'mine' }),
      await makeKey(store, { project: 'theirs' }),
    ];
    const page = async (token: string, query: string) =>
      (await call('GET', `/v1/experiments?limit=1&${query}`, { token })).json();
    const { next: foreign } = await page(theirs.token, '');
    const { next: own } = await page(mine.token, '');
    const { next: all } = await page(TOKEN, '');
    for (const cursor of [foreign, all, `${own}x`, own.split('.')[0], 'AAAA.AAAA', newExperimentId()]) {
      assert.equal((await page(mine.token, `cursor=${cursor}`)).code, 'invalid-cursor', cursor);
    }
    assert.equal((await page(mine.token, `cursor=${own}`)).items.length, 1);
    assert.equal((await page(mine.token, `cursor=${own}&state=queued`)).code, 'invalid-cursor');
    assert.equal((await call('GET', `/v1/sweeps?cursor=${own}`, mine)).json().code, 'invalid-cursor');
  });
});

describe('custom code', () => {
  const spec = {
    engine: 'verl-agent',
    name: 'x',
    recipe: 'qwen2.5_1.5b_alfworld_train',
    home: '/h',
    allowCustomCode: true,
    overrides: { 'data.custom_cls.path': '/x.py' },
  };

  test('custom code needs its scope in a submission, a sweep, a dry run and a rerun', async () => {
    const { call } = await appOf();
    const without = await makeKey(store, { scopes: ['read', 'submit', 'admin'] });
    const having = await makeKey(store, { scopes: ['read', 'submit', 'custom-code'] });
    const { name: _name, ...base } = spec;
    const sweep = { name: 's', method: 'grid', spec: base, axes: { 'environment.seed': [1] } };
    for (const [path, body] of [
      ['/v1/experiments', spec],
      ['/v1/plans', spec],
      ['/v1/sweeps', sweep],
      ['/v1/sweeps/preview', sweep],
    ] as const) {
      const refused = await call('POST', path, { token: without.token, body });
      assert.equal(refused.statusCode, 400, path);
      assert.match(refused.body, /allowCustomCode.*custom-code/, path);
      const taken = await call('POST', path, { token: having.token, body });
      assert.ok(!/needs a key with the scope/.test(taken.body), `${path}: ${taken.body}`);
    }
  });

  test('a spec with code of its own, in an engine that no other module knows, needs the scope and is marked', async () => {
    after(addEngine({ ...COUNTDOWN, customCode: () => true }));
    const { call } = await appOf();
    const without = await makeKey(store, { scopes: ['read', 'submit', 'admin'] });
    const having = await makeKey(store, { scopes: ['read', 'submit', 'custom-code'] });
    const base = COUNTDOWN.example;
    const sweep = { name: 's', method: 'grid', spec: base, axes: { '/from': [1] } };
    const wanted = [
      ['/v1/experiments', base],
      ['/v1/plans', base],
      ['/v1/preflight', base],
      ['/v1/sweeps', sweep],
      ['/v1/sweeps/preview', sweep],
    ] as const;
    const taken: string[] = [];
    for (const [path, body] of wanted) {
      const refused = await call('POST', path, { token: without.token, body });
      assert.equal(refused.statusCode, 400, path);
      assert.match(refused.body, /\/engine".*needs a key with the scope custom-code/, path);
      const response = await call('POST', path, { token: having.token, body });
      assert.ok(!/needs a key with the scope/.test(response.body), `${path}: ${response.body}`);
      taken.push(response.json().id);
    }
    assert.equal((await store.experiments.get(taken[0]!))?.customCode, true);
    const { made } = await store.sweeps.expand(taken[3]!, makeChild);
    const child = made[0]!.experiment;
    assert.equal((await store.experiments.get(child))?.customCode, true);
    const comparison = await call('GET', `/v1/sweeps/${taken[3]}/comparison`);
    assert.equal(comparison.json().items[0].customCode, true);
    await store.attempts.end(await claimed(store, child), { to: 'failed', reason: '' });
    const refused = await call('POST', `/v1/sweeps/${taken[3]}/rerun-failed`, { token: without.token });
    assert.match(refused.body, /needs the scope custom-code/);
    const again = `/v1/experiments/${child}/rerun`;
    assert.equal((await call('POST', again, { token: without.token })).statusCode, 400);
    assert.equal((await call('POST', again, { token: having.token })).statusCode, 202);
  });

  test('a directory of a cluster needs the scope custom-code or a code path that the cluster allows', async () => {
    const { call } = await appOf();
    const cluster = (name: string) => clusterRecord({ name, address: 'h:1' });
    for (const name of ['allowing', 'strict']) await store.clusters.put(cluster(name));
    const without = await makeKey(store, { scopes: ['read', 'submit'] });
    const having = await makeKey(store, { scopes: ['read', 'submit', 'custom-code'] });
    const { overrides: _overrides, allowCustomCode: _allow, ...plain } = spec;
    const named = { ...plain, home: '/srv/models/eve', cluster: 'allowing' };
    const { name: _name, home: _home, ...base } = named;
    const sweep = { name: 's', method: 'grid', spec: base, axes: { 'model.path': ['/srv/models/eve'] } };
    const asked = async (body: object, token: string) => {
      const path = 'axes' in body ? '/v1/sweeps/preview' : '/v1/preflight';
      return (await call('POST', path, { token, body })).statusCode;
    };
    // Fails if only overrides are checked: the preflight would import the recipe from that directory.
    for (const body of [named, { ...named, home: undefined, model: { path: '/srv/models/eve' } }, sweep]) {
      assert.equal(await asked(body, without.token), 400, JSON.stringify(body));
      assert.ok((await asked(body, having.token)) < 300);
    }
    const change = (codePaths: string[]) => call('PATCH', '/v1/clusters/allowing', { body: { codePaths } });
    assert.deepEqual((await change(['/srv/models'])).json().codePaths, ['/srv/models']);
    for (const body of [named, sweep]) assert.ok((await asked(body, without.token)) < 300);
    // Without a cluster, or on another one, the directory is not allowed.
    for (const cluster of ['strict', undefined])
      assert.equal(await asked({ ...named, cluster }, without.token), 400);
    await change([]);
    const { id } = (await call('POST', '/v1/sweeps', { token: having.token, body: sweep })).json();
    const { made } = await store.sweeps.expand(id, makeChild);
    const lease = await claimed(store, made[0]!.experiment);
    await store.attempts.end(lease, { to: 'failed', reason: '' });
    const rerun = (token: string) => call('POST', `/v1/sweeps/${id}/rerun-failed`, { token });
    assert.match((await rerun(without.token)).body, /needs the scope custom-code/);
    assert.equal((await rerun(having.token)).json().rerun, 1);
    const again = (token: string) => call('POST', `/v1/experiments/${made[0]!.experiment}/rerun`, { token });
    assert.equal((await again(without.token)).statusCode, 400);
    assert.equal((await again(having.token)).statusCode, 202);
    for (const name of ['allowing', 'strict']) await store.clusters.remove(name);
  });

  test('a runtime environment needs a cluster that allows it, and every cluster if the spec names none', async () => {
    const { call } = await appOf();
    for (const name of ['allowing', 'strict'])
      await store.clusters.put(clusterRecord({ name, address: 'h:1' }));
    const own = { name: 'r', engine: 'command', command: ['true'], runtimeEnv: { pip: ['wheel'] } };
    const asked = async (cluster?: string) =>
      (await call('POST', '/v1/plans', { body: { ...own, cluster } })).statusCode;
    assert.equal(await asked('allowing'), 400);
    const changed = await call('PATCH', '/v1/clusters/allowing', { body: { runtimeEnv: ['pip'] } });
    assert.deepEqual(changed.json().runtimeEnv, ['pip']);
    assert.deepEqual([await asked('allowing'), await asked('strict'), await asked()], [200, 400, 400]);
    for (const name of ['allowing', 'strict']) await store.clusters.remove(name);
  });
});

test('a secret of another project is refused like an absent one in every route, and its list shows only what is its own', async () => {
  const { call } = await appOf();
  await store.clusters.put(clusterRecord({ name: 'shared', address: 'h:1' }));
  const scopes = SCOPES.filter((scope) => scope !== 'admin');
  const { token } = await makeKey(store, { project: 'mine', scopes });
  const { token: unbound } = await makeKey(store, { scopes });
  const ask = async (secret: string, { asker = token, cluster, project }: Record<string, string> = {}) => {
    const spec = {
      ...REPLAY,
      secrets: { KEY: secret },
      ...(cluster && { cluster }),
      ...(project && { project }),
    };
    const { name: _name, ...base } = spec;
    const sweep = { name: 's', method: 'grid', spec: base, axes: { priority: [1, 2] } };
    const answers: { path: string; status: number; body: string }[] = [];
    for (const [path, body] of [
      ['/v1/experiments', spec],
      ['/v1/plans', spec],
      ['/v1/preflight', spec],
      ['/v1/queues/what-if', { spec }],
      ['/v1/sweeps', sweep],
      ['/v1/sweeps/preview', sweep],
    ] as const) {
      const { statusCode, body: text } = await call('POST', path, { token: asker, body });
      answers.push({ path, status: statusCode, body: text });
    }
    return answers;
  };
  const assertRefused = (answers: Awaited<ReturnType<typeof ask>>) => {
    for (const { path, status, body } of answers) {
      assert.equal(status, 400, `${path}: ${body}`);
      assert.match(body, /\/secrets\/KEY.*which is no secret that the project/);
    }
  };
  const assertTaken = (answers: Awaited<ReturnType<typeof ask>>) => {
    for (const { path, status, body } of answers) assert.ok(status < 300, `${path}: ${body}`);
  };
  // Without a list, secrets belong to the project default.
  assertRefused(await ask('wandb', { cluster: 'shared' }));
  assertTaken(await ask('wandb', { asker: unbound, cluster: 'shared' }));
  const change = (secretProjects: object | null) =>
    call('PATCH', '/v1/clusters/shared', { body: { secretProjects } });
  const list = { wandb: ['theirs'], hub: ['mine', 'theirs'], all: ['*'] };
  assert.deepEqual((await change(list)).json().secretProjects, list);
  for (const cluster of ['shared', '']) {
    const [foreign, absent] = [await ask('wandb', { cluster }), await ask('nodna', { cluster })];
    assertRefused(foreign);
    const inWords = (answers: typeof foreign) =>
      answers.map(
        ({ body }) => (JSON.parse(body) as { problems: { message: string }[] }).problems[0]!.message,
      );
    assert.deepEqual(
      inWords(foreign).map((words) => words.replace('wandb', 'NAME')),
      inWords(absent).map((words) => words.replace('nodna', 'NAME')),
    );
  }
  assertRefused(await ask('wandb', { asker: unbound, cluster: 'shared', project: 'mine' }));
  assertTaken(await ask('wandb', { asker: unbound, cluster: 'shared', project: 'theirs' }));
  for (const secret of ['hub', 'all']) assertTaken(await ask(secret, { cluster: 'shared' }));
  const own = { hub: ['mine'], all: ['*'] };
  const seen = await call('GET', '/v1/clusters/shared', { token });
  assert.deepEqual(seen.json().secretProjects, own);
  for (const path of ['/v1/clusters', '/v1/queues'])
    assert.ok(!/theirs|wandb/.test((await call('GET', path, { token })).body), path);
  for (const invalid of [{ '../x': ['mine'] }, { x: 'mine' }, { x: ['Mine'] }, { x: ['mine', 'mine'] }])
    assert.equal((await change(invalid)).statusCode, 400, JSON.stringify(invalid));
  assert.equal((await change(null)).json().secretProjects, null);
  await store.clusters.remove('shared');
});

describe('the endpoint of a prompted model', () => {
  const bodies = (baseUrl: string) => {
    const spec = { engine: 'prompt', name: 'x', model: { baseUrl, name: 'm' } };
    const { name: _name, ...base } = spec;
    const sweep = { name: 's', method: 'grid', spec: base, axes: { 'environment.seed': [1, 2] } };
    return [
      ['/v1/experiments', spec],
      ['/v1/plans', spec],
      ['/v1/preflight', spec],
      ['/v1/queues/what-if', { spec }],
      ['/v1/sweeps', sweep],
      ['/v1/sweeps/preview', sweep],
    ] as const;
  };
  const ask = async (baseUrl: string, token: string) => {
    const { call } = await appOf();
    return await Promise.all(
      bodies(baseUrl).map(async ([path, body]) => ({
        path,
        response: await call('POST', path, { token, body }),
      })),
    );
  };

  test('an address of the inner network needs the scope custom-code or the operator, in every route', async () => {
    const without = await makeKey(store, { scopes: ['read', 'submit', 'admin'] });
    const having = await makeKey(store, { scopes: ['read', 'submit', 'custom-code'] });
    for (const { path, response } of await ask('http://10.0.0.5:6379/v1', without.token)) {
      assert.equal(response.statusCode, 400, path);
      assert.match(response.body, /model\/baseUrl.*custom-code.*ECHELON_PROMPT_ENDPOINTS/, path);
    }
    const accepted = [
      ...(await ask('http://10.0.0.5:6379/v1', having.token)),
      ...(await ask('https://api.openai.com/v1', without.token)),
    ];
    // There is no cluster for a preflight.
    for (const { path, response } of accepted)
      assert.ok(response.statusCode < 300 || response.statusCode === 404, `${path}: ${response.body}`);
  });

  test('a metadata service, a port above 65535, an incomplete IPv6 address and a path that is left get 400', async () => {
    const { token } = await makeKey(store, { scopes: [...SCOPES] });
    for (const baseUrl of [
      'http://169.254.169.254/latest',
      'http://h:99999/v1',
      'http://[1:2:3]/v1',
      'https://h/v1/../admin',
      'https://h/v1/%2e%2e/admin',
      'http://metadata.google.internal',
    ])
      for (const { path, response } of await ask(baseUrl, token)) {
        assert.equal(response.statusCode, 400, `${path} ${baseUrl}: ${response.body}`);
        assert.match(response.body, /\/model\/baseUrl/, path);
      }
  });
});

test('the secret of a key is neither in Redis nor in a log', async () => {
  const { call, logged } = await appOf();
  const made = await call('POST', '/v1/keys', { body: { name: 'k', scopes: ['read'] } });
  const secret = (made.json().token as string).slice(-43);
  await call('POST', '/v1/plans', { token: made.json().token, body: LOCAL });
  for (const name of await redis.keys('*')) assert.ok(!String(await redis.dump(name)).includes(secret), name);
  assert.ok(!JSON.stringify(logged).includes(secret));
});
