import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { after, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { cpuTimeOf } from '../../support/cpu-time.ts';
import { appFor, LOCAL, REPLAY, TOKEN } from '../../support/http-app.ts';
import { running, storeFor, submitInput } from '../../support/store.ts';

// Attacks on a real server over real sockets, as a table of requests and expected answers. After each,
// the server must still answer, and its store must not have changed.

const { store } = await storeFor({ after });
const { app, logged } = await appFor({ after }, { store, limits: { failedSignIns: 100_000 } });
await app.listen({ port: 0, host: '127.0.0.1' });
const { port } = app.server.address() as AddressInfo;

interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: string;
}

type Sent = Omit<RequestOptions, 'headers'> & {
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
};

async function send({ body, headers, ...options }: Sent): Promise<Answer> {
  const request = httpRequest({
    host: '127.0.0.1',
    port,
    agent: false,
    headers: { authorization: `Bearer ${TOKEN}`, ...headers },
    ...options,
  });
  const answered = once(request, 'response') as Promise<[IncomingMessage]>;
  // If the server closes before it has read the whole request, its answer counts.
  request.on('error', () => {});
  request.end(body);
  const [response] = await answered;
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks).toString() };
}

const JSON_TYPE = { 'content-type': 'application/json' };
const submit = (body: string | Buffer, headers: Record<string, string | string[]> = {}) =>
  send({ method: 'POST', path: '/v1/experiments', body, headers: { ...JSON_TYPE, ...headers } });
const get = (path: string, headers: Record<string, string> = {}) => send({ path, headers });
const spec = (text: string) => `{"engine":"local","name":"x","estimator":{"name":"hgpo",${text}}}`;

/** One attack and its expected answer. `problem` is a part of the answer. */
interface Attack {
  of: string;
  send: () => Promise<Answer>;
  status: number;
  problem?: string;
}

const attack = (of: string, status: number, run: () => Promise<Answer>, problem?: string): Attack => ({
  of,
  status,
  send: run,
  ...(problem === undefined ? {} : { problem }),
});

const lease = await running(store);
const other = await running(store);
const ATTACKS: Attack[] = [
  // Identity
  attack('no token', 401, () => send({ path: '/v1/queues', headers: { authorization: [] } })),
  attack('another scheme', 401, () => get('/v1/queues', { authorization: `Basic ${TOKEN}` })),
  attack('a token in the query', 401, () =>
    send({ path: `/v1/queues?token=${TOKEN}`, headers: { authorization: [] } }),
  ),
  attack(
    'a token in the query, with a token',
    400,
    () => get(`/v1/queues?token=${TOKEN}`),
    '"field":"token"',
  ),
  attack('a wrong token', 401, () => get('/v1/queues', { authorization: 'Bearer nope' })),
  attack('two tokens, the first of them valid', 401, () =>
    send({ path: '/v1/queues', headers: { authorization: [`Bearer ${TOKEN}`, 'Bearer another'] } }),
  ),
  attack('a token with bytes after it', 401, () => get('/v1/queues', { authorization: `Bearer ${TOKEN} x` })),
  // Size
  attack('a body one byte above the limit', 413, () => submit(JSON.stringify(REPLAY).padEnd(256 * 1024 + 1))),
  attack('a chunked body above the limit', 413, () =>
    submit(JSON.stringify(REPLAY).padEnd(300_000), { 'transfer-encoding': 'chunked' }),
  ),
  attack('a decompression bomb', 415, () =>
    submit(gzipSync(Buffer.alloc(20_000_000)), { 'content-encoding': 'gzip' }),
  ),
  attack('headers above the limit', 431, () => get('/v1/queues', { 'x-big': 'a'.repeat(20_000) })),
  attack('an id of 10 kB', 404, () => get(`/v1/experiments/${'a'.repeat(10_000)}`)),
  // Shape
  attack('100,000 levels', 400, () => submit(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)),
  attack('100,000 levels that never close', 400, () => submit('{"a":'.repeat(40_000))),
  attack('colliding integer keys', 400, () =>
    submit(`{${Array.from({ length: 16_000 }, (_, index) => `"${index * 65_536}":0`).join()}}`),
  ),
  attack(
    '__proto__',
    400,
    () => submit('{"engine":"local","name":"x","__proto__":{"polluted":1}}'),
    '/__proto__',
  ),
  attack(
    'constructor.prototype',
    400,
    () => submit('{"constructor":{"prototype":{"polluted":1}}}'),
    '/constructor',
  ),
  attack(
    '__proto__ in the estimator',
    400,
    () => submit(spec('"__proto__":{"mode":"mean_norm"}')),
    '/estimator/__proto__',
  ),
  attack('__proto__ in the query', 400, () => get('/v1/experiments?__proto__=1'), '__proto__'),
  // Values
  ...['null', 'true', '"4"', '1e400', '-0', '9007199254740993', '1.5', '-1', '[2]', '{}'].map((value) =>
    attack(`K of ${value}`, 400, () => submit(spec(`"historyLength":${value}`)), '/estimator/historyLength'),
  ),
  attack('K of NaN', 400, () => submit(spec('"historyLength":NaN'))),
  attack(
    'duplicate keys',
    400,
    () => submit(spec('"historyLength":99,"historyLength":1')),
    '/estimator/historyLength',
  ),
  attack('an unknown field', 400, () => submit(spec('"gama":1')), 'did you mean gamma?'),
  attack('a field of another object', 400, () => submit(spec('"groupSize":4')), '/rollout/groupSize'),
  attack('a number as a name', 400, () => submit('{"engine":"replay","name":42}'), '/name'),
  attack(
    'a name of 10 kB',
    400,
    () => submit(JSON.stringify({ ...REPLAY, name: 'x'.repeat(10_000) })),
    '/name',
  ),
  attack('half a surrogate pair', 400, () => submit('{"engine":"replay","name":"\\ud800"}'), '/name'),
  attack('bytes that are not UTF-8', 400, () => submit(Buffer.from('7b2261223a22ff227d', 'hex'))),
  // Types
  ...['text/plain', 'application/json\ta', 'application/xml', 'application/json;a=b', 'APPLICATION/X'].map(
    (type) =>
      attack(`a body as ${JSON.stringify(type)}`, 415, () =>
        submit(JSON.stringify(REPLAY), { 'content-type': type }),
      ),
  ),
  attack('two content types', 415, () =>
    submit(JSON.stringify(REPLAY), { 'content-type': ['application/json', 'text/plain'] }),
  ),
  attack('no content type', 415, () =>
    send({ method: 'POST', path: '/v1/experiments', body: JSON.stringify(REPLAY) }),
  ),
  // Browsers
  attack('a foreign Host header (DNS rebinding)', 403, () => get('/v1/queues', { host: 'evil.test' })),
  attack('a DELETE with a foreign Host header', 403, () =>
    send({ method: 'DELETE', path: '/v1/experiments/x', headers: { host: 'evil.test' } }),
  ),
  attack('a preflight', 405, () =>
    send({
      method: 'OPTIONS',
      path: '/v1/experiments',
      headers: { origin: 'http://evil.test', 'access-control-request-method': 'POST' },
    }),
  ),
  // Cursors and ids
  attack('a forged cursor', 400, () => get('/v1/experiments?cursor=YWZ0ZXIgMQ.AAAA'), 'invalid-cursor'),
  attack('an id with ..', 404, () => get('/v1/experiments/..%2f..%2fetc%2fpasswd')),
  attack('an id with NUL', 404, () => get('/v1/experiments/exp%00')),
  attack('a path that cannot be decoded', 400, () => get('/v1/experiments/%zz')),
  ...['-1', '999999999999999999999-1', '2-1048576', 'exp-x', '*', '$', '1-99999999999999999999'].map((id) =>
    attack(`Last-Event-ID ${id}`, 400, () =>
      get(`/v1/experiments/${lease.experiment}/events`, { 'last-event-id': id }),
    ),
  ),
  attack('an Idempotency-Key of 10 kB', 400, () =>
    submit(JSON.stringify(REPLAY), { 'idempotency-key': 'k'.repeat(10_000) }),
  ),
  // Other endpoints
  attack('the board without a token', 401, () => send({ path: '/queues', headers: { authorization: [] } })),
  attack('the metrics of a process', 404, () => get('/metrics')),
  attack('a method of another protocol', 404, () => send({ method: 'TRACE', path: '/v1/nothing' })),
];

describe('attacks', () => {
  for (const { of, send: run, status, problem } of ATTACKS) {
    test(`an attack (${of}) gets ${status}`, async () => {
      const before = await store.experiments.counts();
      const answer = await run();
      assert.equal(answer.status, status, answer.body);
      assert.match(String(answer.headers['content-type']), /^application\/problem\+json/);
      if (problem !== undefined) assert.ok(answer.body.includes(problem), answer.body);
      assert.ok(!answer.body.includes(TOKEN));
      assert.equal(({} as { polluted?: unknown }).polluted, undefined);
      assert.deepEqual(await store.experiments.counts(), before);
      assert.equal((await get('/healthz')).status, 200);
    });
  }
});

test('the name of an experiment may be any text, and its id comes from the server', async () => {
  for (const name of [
    '123456',
    'a:b:c',
    '😀 ünï',
    '<script>alert(1)</script>',
    "'; DROP TABLE",
    '../..',
    'exp-1',
  ]) {
    const { status, body } = await submit(JSON.stringify({ ...REPLAY, name }));
    assert.equal(status, 202, name);
    const { id } = JSON.parse(body);
    assert.match(id, /^exp-[0-9a-z]{20}$/);
    assert.equal((await store.experiments.get(id))?.name, name);
  }
});

test('100 parallel submissions with one Idempotency-Key create one experiment and get equal answers', async () => {
  const before = (await store.experiments.counts()).queued;
  const headers = { 'idempotency-key': 'parallel' };
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => submit(JSON.stringify(LOCAL), headers)),
  );
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([202]));
  assert.equal(new Set(answers.map(({ body }) => body)).size, 1);
  assert.equal((await store.experiments.counts()).queued, before + 1);
  const conflict = await submit(JSON.stringify(REPLAY), headers);
  assert.equal(conflict.status, 409);
});

test('a cursor of one experiment shows no log of another', async () => {
  const event = (text: string) => ({ type: 'log', source: 'stdout', lines: [text], cutBytes: 0 }) as const;
  await store.events.append(lease, [{ sequence: 1, at: 1, event: { ...event('mine'), lines: ['mine'] } }]);
  await store.events.append(other, [
    { sequence: 1, at: 1, event: { ...event('theirs'), lines: ['theirs'] } },
  ]);
  const first = (await store.events.tail(other.experiment, 1))[0]!.id;
  const { body } = await get(`/v1/experiments/${lease.experiment}/logs?after=${first}`);
  assert.ok(!body.includes('theirs'));
});

test('idle and slow connections are closed, and other requests succeed meanwhile', async (t) => {
  const { app: hasty } = await appFor(t, { store, limits: { requestTimeoutMs: 1000 } });
  const origin = await hasty.listen({ port: 0, host: '127.0.0.1' });
  const { port: at } = hasty.server.address() as AddressInfo;
  const head = 'POST /v1/experiments HTTP/1.1\r\nhost: 127.0.0.1\r\n';
  const full = `${head}authorization: Bearer ${TOKEN}\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{`;
  const closed = [head, full, head, full].map(async (text) => {
    const socket = connect(at, '127.0.0.1');
    t.after(() => socket.destroy());
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString();
    });
    socket.on('error', () => {});
    socket.write(text);
    await once(socket, 'close');
    return received;
  });
  const headers = { authorization: `Bearer ${TOKEN}` };
  assert.equal((await fetch(`${origin}/v1/queues`, { headers })).status, 200);
  for (const received of await Promise.all(closed)) assert.match(received, /^HTTP\/1\.1 408 /);
});

test('the largest and deepest bodies do not delay other requests', async () => {
  for (const body of [
    `${'['.repeat(125_000)}${']'.repeat(125_000)}`,
    `{${Array.from({ length: 10_000 }, (_, index) => `"unknown${index}":${index}`).join()}}`,
    `{"engine":"local","name":"${'\\u0061'.repeat(40_000)}"}`,
  ]) {
    const cpuMs = await cpuTimeOf(async () => assert.equal((await submit(body)).status, 400));
    // A bound on order, not on speed: a quadratic step over 256 kB takes minutes.
    assert.ok(cpuMs < 5_000, `${cpuMs} ms`);
  }
});

test('the token is in no log', async () => {
  await store.experiments.submit(submitInput());
  const text = JSON.stringify(logged);
  assert.ok(logged.length > 50);
  assert.ok(!text.includes(TOKEN));
});
