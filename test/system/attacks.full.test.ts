import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { Redis } from 'ioredis';
import { type AttackedStack, attackedStackFor, everythingIn } from '../support/attacked-stack.ts';
import { until } from '../support/dispatch.ts';
import { everyRoute } from '../support/every-route.ts';
import { HOOK_SECRET } from '../support/notifications.ts';
import { TOKEN } from '../support/system.ts';

/*
 * The classes of attacks against a whole stack of real processes, with an S3 server, an SMTP server, a DNS server, an OpenID
 * provider and receivers of webhooks of our own. Needs a network of its own: npm run test:attacks.
 */

const CANARY = 'canary-6Qm2vX8sLr4TzK1wB7yN';
const CONTROL = 'control-3Hf9';
const PLACES = 200;

/** Prints its secret in 200 places: in eight forms, after more and more text, in lines of up to 64 kB, in pieces, in names of metrics. */
const TRAINING = `
import base64, json, os, sys, urllib.parse
value = os.environ["TRACKER_KEY"]
half = len(value) // 2
forms = [
    lambda: value,
    lambda: base64.b64encode(value.encode()).decode(),
    lambda: base64.b64encode(b"user:" + value.encode()).decode(),
    lambda: value.encode().hex(),
    lambda: "https://user:" + value + "@host/?q=" + urllib.parse.quote(value, safe=""),
    lambda: repr({"token": value}),
    lambda: json.dumps({"headers": {"Authorization": "Bearer " + value}}),
    lambda: "\\x1b[31m" + value + "\\x1b[0m",
]
for place in range(${PLACES - 20}):
    filler = "." * (place * 409 if place % 4 == 0 else place)
    out = sys.stderr if place % 2 else sys.stdout
    print(filler, forms[place % len(forms)](), "end", file=out, flush=True)
for place in range(10):
    os.write(1, b"split " + value[:half + place - 5].encode())
    os.write(1, value[half + place - 5:].encode() + b" over two writes\\n")
for place in range(8):
    print("M " + json.dumps({f"loss/{forms[place % 3]()}": 1.0}), flush=True)
print("\\r" + value + "\\rprogress", "${CONTROL}", flush=True)
raise RuntimeError("a traceback with " + value)
`;

/** Its DNS server listens on port 53. */
const SKIP = process.env.ECHELON_ISOLATED ? false : 'needs a network of its own: npm run test:attacks';

describe('a whole stack under attack', { skip: SKIP }, () => {
  const releases: (() => unknown)[] = [];
  const scope = { after: (release: () => unknown) => void releases.push(release) };
  let stack: AttackedStack;
  let redis: Redis;
  let url: string;
  let trained: string;

  before(async () => {
    stack = await attackedStackFor(scope as never, CANARY);
    url = stack.system.url;
    const place = stack.system.stack.redis;
    redis = 'path' in place ? new Redis(place.path) : new Redis(place.url);
    releases.push(() => redis.disconnect());
    for (const name of ['vision', 'theirs']) await post('/v1/projects', { name });
  });
  after(async () => {
    for (const release of releases.reverse()) await release();
  });

  interface Answer {
    status: number;
    text: string;
    body: Record<string, never> & { id: string; items: never[] };
    headers: Headers;
  }

  /** A request; a stream is left after its first part. */
  async function ask(
    method: string,
    path: string,
    { token, body }: { token?: string; body?: unknown } = {},
  ): Promise<Answer> {
    const answer = await fetch(`${url}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    if (isStream) await answer.body?.cancel();
    const text = isStream ? '' : await answer.text();
    const isJson = /json/.test(answer.headers.get('content-type') ?? '');
    return {
      status: answer.status,
      text,
      body: isJson && text !== '' ? JSON.parse(text) : {},
      headers: answer.headers,
    };
  }
  async function post(path: string, body?: unknown, token = TOKEN): Promise<Answer> {
    const answer = await ask('POST', path, { token, body });
    assert.ok(answer.status < 300, `${path}: ${answer.status} ${answer.text}`);
    return answer;
  }
  const get = (path: string, token = TOKEN) => ask('GET', path, { token });
  async function keyOf(project: string, ...scopes: string[]): Promise<string> {
    const { body } = await post('/v1/keys', { name: 'k', project, scopes });
    return (body as unknown as { token: string }).token;
  }
  async function routes() {
    const document = JSON.parse((await get('/openapi.json')).text) as object;
    return everyRoute({ swagger: () => document } as never);
  }

  test(`a secret in ${PLACES} places of a training is in no store, archive, log, answer, webhook or e-mail`, {
    timeout: 240_000,
  }, async () => {
    const events = ['state', 'rule', 'checkpoint'];
    await post('/v1/subscriptions', {
      events,
      target: { kind: 'webhook', url: `http://hook.test:${stack.port}/`, secret: 'hook' },
    });
    await post('/v1/subscriptions', {
      events,
      target: { kind: 'email', to: ['ml@example.com'], everyMinutes: 1 },
    });
    const spec = {
      engine: 'command',
      name: 'canary',
      command: ['python3', 'train.py'],
      files: { 'train.py': TRAINING },
      secrets: { TRACKER_KEY: 'TRACKER' },
      metrics: { jsonPrefix: 'M ' },
      maxAttempts: 1,
    };
    trained = (await post('/v1/experiments', spec)).body.id;
    await stack.system.until(
      trained,
      'it has failed',
      ({ state, verification }) => state === 'failed' && verification.status === 'complete',
      120_000,
    );
    await until(
      () => stack.receiver.received.some(({ body }) => body.data.to === 'failed'),
      'the webhook has it',
    );
    await until(() => stack.mails.length > 0, 'the e-mail arrives');
    const reads = (await routes()).filter(
      ({ method, operationId }) => method === 'GET' && !/^stream(Project|All)Events$/.test(operationId),
    );
    const answers = await Promise.all(
      reads.map(
        async (route) =>
          (
            await get(
              route.url({
                id: trained,
                experiments: trained,
                name: 'default',
                names: '*',
                attempt: '1',
                batch: '1',
              }),
            )
          ).text,
      ),
    );
    const events_ = await get(`/v1/experiments/${trained}/logs/download`);
    const found: Record<string, string> = {
      Redis: await everythingIn(redis),
      archive: [...stack.s3.objects].map(([name, bytes]) => name + bytes.toString('latin1')).join('\n'),
      logs: stack.logs(),
      answers: answers.join('\n') + events_.text,
      webhooks: stack.receiver.received.map(({ text }) => text).join('\n'),
      'e-mails': stack.mails.map(({ text }) => text).join('\n'),
    };
    for (const [place, text] of Object.entries(found))
      for (const form of [
        CANARY,
        Buffer.from(CANARY).toString('base64').slice(0, -3),
        Buffer.from(CANARY).toString('hex'),
      ]) {
        const at = text.indexOf(form);
        assert.equal(at, -1, `${place}: ${text.slice(Math.max(0, at - 80), at)}`);
      }
    // The search finds what is no secret.
    assert.ok(
      found.answers!.includes(CONTROL) &&
        found.webhooks!.includes(trained) &&
        found['e-mails']!.includes(trained),
    );
    assert.ok(found.answers!.split('end').length > PLACES / 2);
  });

  test('a person signs in once by the provider, and no used, foreign or made-up answer of it signs in', {
    timeout: 60_000,
  }, async () => {
    const ann = await signIn('ann');
    assert.equal(ann.last.status, 200);
    const caller = await fetch(`${url}/v1/caller`, { headers: { cookie: ann.cookies } });
    assert.equal(((await caller.json()) as { project: string }).project, 'vision');
    const eve = await signIn('eve');
    assert.equal(eve.last.status, 403);
    const again = new URL(ann.callback);
    const other = await fetch(`${url}/login/oidc`, { redirect: 'manual' });
    const otherCookie = other.headers.getSetCookie()[0]!.split(';')[0]!;
    const otherState = new URL(other.headers.get('location')!).searchParams.get('state')!;
    const forged = (changes: Record<string, string>) => {
      const made = new URL(again);
      for (const [name, value] of Object.entries(changes)) made.searchParams.set(name, value);
      return made.href;
    };
    const cases: [string, string, string][] = [
      ['used', again.href, ann.flow],
      ['without its cookie', again.href, ''],
      ['with the cookie of another sign-in', again.href, otherCookie],
      ['a used code in another sign-in', forged({ state: otherState }), otherCookie],
      ['a changed state', forged({ state: 'x' }), ann.flow],
      ['a cookie with more at its end', again.href, `${ann.flow}.x`],
    ];
    for (const [what, at, cookie] of cases) {
      const answer = await fetch(at, { redirect: 'manual', headers: { cookie } });
      assert.ok(answer.status >= 400 && answer.status < 500, `${what}: ${answer.status}`);
      assert.ok(
        !answer.headers.getSetCookie().some((one) => /^(__Host-)?echelon_session=[^;]/.test(one)),
        what,
      );
    }
  });

  test('webhooks reach no inner address, by any name, while a receiver that may be reached gets all messages of a cancelled sweep', {
    timeout: 120_000,
  }, async () => {
    const key = await keyOf('default', 'read', 'submit');
    const hosts = [
      'inner.test',
      'both.test',
      'six.test',
      'mapped.test',
      '127.0.0.2',
      '0x7f000002',
      '2130706434',
      '[::1]',
      '[::ffff:127.0.0.2]',
      '[::ffff:7f00:2]',
    ];
    const ids: string[] = [];
    for (const host of hosts) {
      const target = { kind: 'webhook', url: `http://${host}:${stack.port}/`, secret: 'hook' };
      ids.push((await post('/v1/subscriptions', { events: ['state'], target }, key)).body.id);
    }
    for (const to of ['a@evil.test', 'a@example.com.evil.test', 'a%evil.test@example.com'])
      assert.equal(
        (
          await ask('POST', '/v1/subscriptions', {
            token: key,
            body: { events: ['state'], target: { kind: 'email', to: [to] } },
          })
        ).status,
        400,
        to,
      );
    const before = { posts: stack.receiver.received.length, mails: stack.mails.length };
    await post('/v1/queues/default/pause', {});
    const spec = { engine: 'replay', name: 'child' };
    const axes = { '/replay/batches': Array.from({ length: 150 }, (_one, at) => at + 1) };
    const { id } = (await post('/v1/sweeps', { name: 'many', method: 'list', spec, axes }, key)).body;
    await until(
      async () => (await get(`/v1/experiments?sweep=${id}&limit=200`)).body.items.length === 150,
      'all children are queued',
      { seconds: 60 },
    );
    await post(`/v1/sweeps/${id}/cancel`, {}, key);
    await until(
      () => stack.receiver.received.length - before.posts >= 300,
      'the receiver that may be reached has all',
      { seconds: 60 },
    );
    for (const [at, one] of ids.entries()) {
      const reason = await until(async () => {
        const { items } = (await get(`/v1/subscriptions/${one}/deliveries`)).body as unknown as {
          items: { reason: string }[];
        };
        return items[0]?.reason;
      }, `${hosts[at]} is tried`);
      // What a name leads to is not told.
      assert.match(reason, /^\d|\[/.test(hosts[at]!) ? /not public/ : /could not be reached/, hosts[at]);
      assert.equal((await ask('DELETE', `/v1/subscriptions/${one}`, { token: key })).status, 204);
    }
    assert.deepEqual(stack.inner, []);
    assert.ok(stack.mails.length - before.mails <= 2, `${stack.mails.length} e-mails`);
    assert.ok(stack.mails.every(({ to }) => to.every((address) => address.endsWith('@example.com'))));
    await post('/v1/queues/default/resume');
  });

  test('no spec makes the stack speak to an object store of its sender', async () => {
    const key = await keyOf('default', 'read', 'submit', 'custom-code');
    const endpoints = [
      `http://127.0.0.2:${stack.port}`,
      `http://inner.test:${stack.port}`,
      stack.s3.url,
      'http://169.254.169.254',
    ];
    const before = stack.s3.answered.length;
    for (const endpoint of endpoints) {
      const checkpointStore = { url: `s3://mine/x?endpoint_override=${encodeURIComponent(endpoint)}` };
      const spec = { engine: 'replay', name: 'r', checkpointStore };
      for (const [path, body] of [
        ['/v1/experiments', spec],
        ['/v1/plans', spec],
        ['/v1/queues/what-if', { spec }],
        ['/v1/sweeps', { name: 's', method: 'list', spec, axes: { '/replay/batches': [1] } }],
      ] as const) {
        const answer = await ask('POST', path, { token: key, body });
        const refused = answer.status === 400 || /checkpointStore/.test(answer.text);
        assert.ok(refused, `${path} ${endpoint}: ${answer.status} ${answer.text.slice(0, 300)}`);
      }
    }
    assert.deepEqual(stack.inner, []);
    assert.ok(!stack.s3.answered.slice(before).some((line) => line.includes('/mine/')));
  });

  /** Follows the pages of the provider as a browser does, until a page of the api. */
  async function signIn(name: string) {
    const jar = new Map<string, string>();
    const header = () => [...jar].map(([key, value]) => `${key}=${value}`).join('; ');
    let callback = '';
    let flow = '';
    const go = async (at: string, form?: Record<string, string>): Promise<Response> => {
      if (at.includes('/login/oidc/callback')) {
        callback = at;
        flow = `echelon_oidc=${jar.get('echelon_oidc')}`;
      }
      const answer = await fetch(at, {
        redirect: 'manual',
        headers: { cookie: header() },
        ...(form && { method: 'POST', body: new URLSearchParams(form) }),
      });
      for (const set of answer.headers.getSetCookie()) {
        const [pair = ''] = set.split(';');
        jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
      }
      const location = answer.headers.get('location');
      return location === null ? answer : await go(new URL(location, at).href);
    };
    let last = await go(`${url}/login/oidc`);
    for (const form of [{ prompt: 'login', login: name, password: 'any' }, { prompt: 'consent' }]) {
      const [, action = ''] = /<form[^>]*action="([^"]+)"/.exec(await last.text()) ?? [];
      if (action === '') break;
      last = await go(new URL(action, stack.provider.issuer).href, form as Record<string, string>);
    }
    return { last, callback, flow, cookies: header() };
  }

  test('no route tells a key of another project, or a caller without a key, anything of an experiment', {
    timeout: 120_000,
  }, async () => {
    const foreign = await keyOf('theirs', 'read', 'submit', 'custom-code');
    const values = {
      id: trained,
      experiments: trained,
      name: 'default',
      names: '*',
      attempt: '1',
      batch: '1',
      node: 'n',
    };
    const open: string[] = [];
    const told: string[] = [];
    const taken: string[] = [];
    let asked = 0;
    for (const route of await routes()) {
      const place = `${route.method} ${route.path}`;
      const path = route.url(values);
      const without = await ask(route.method, path);
      // After 30 failures of an address, all further ones get 429.
      if (![401, 429].includes(without.status)) open.push(place);
      const answer = await ask(route.method, path, { token: foreign });
      asked += 2;
      for (const { text } of [without, answer])
        if (text.includes('canary') || text.includes(CONTROL)) told.push(place);
      if (route.path.includes('{id}') && answer.status < 400) taken.push(place);
    }
    assert.ok(asked > 180, `${asked} requests`);
    assert.deepEqual(
      { open: open.sort(), told, taken },
      { open: ['GET /healthz', 'GET /readyz', 'POST /login'], told: [], taken: [] },
    );
    assert.equal((await get(`/v1/experiments/${trained}`)).status, 200);
  });

  test('after all of this, the api is ready, and no secret of the stack is in its logs or answers', async () => {
    assert.equal((await ask('GET', '/readyz')).status, 200);
    const { secretKey } = await import('../support/s3-server.ts').then(({ S3_KEYS }) => S3_KEYS);
    const token = (await readFile(`${stack.system.stateDir}/cookie-secret`, 'utf8').catch(() => '')).trim();
    for (const secret of [HOOK_SECRET, secretKey, TOKEN, token].filter(Boolean))
      assert.ok(!stack.logs().includes(secret), secret.slice(0, 6));
  });
});
