import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { after, describe, test } from 'node:test';
import { cpuTimeOf } from '../../support/cpu-time.ts';
import { appFor, REPLAY, TOKEN } from '../../support/http-app.ts';
import { running, storeFor } from '../../support/store.ts';

// Attacks that a client library would not send, byte by byte on a socket, as a table of requests and expected answers.
// One request gets one answer: a second answer would be that of a smuggled request.

const { store } = await storeFor({ after });
const { app, logged } = await appFor(
  { after },
  {
    store,
    limits: {
      requestTimeoutMs: 5_000,
      keepAliveTimeoutMs: 500,
      failedSignIns: 100_000,
    },
  },
);
await app.listen({ port: 0, host: '127.0.0.1' });
const { port } = app.server.address() as AddressInfo;
const { experiment } = await running(store);

const HOST = 'host: 127.0.0.1\r\n';
const AUTH = `authorization: Bearer ${TOKEN}\r\n`;
const JSON_TYPE = 'content-type: application/json\r\n';
const BODY = JSON.stringify(REPLAY);
const LENGTH = `content-length: ${BODY.length}\r\n`;

/** A second request hidden in the body of the first: it would submit an experiment. */
const HIDDEN = `POST /v1/experiments HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}${LENGTH}\r\n${BODY}`;
const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\n${HOST}${AUTH}${headers}\r\n`;
const post = (headers: string, body: string) =>
  `POST /v1/experiments HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}${headers}\r\n${body}`;
const named = (name: string) => {
  const body = JSON.stringify({ ...REPLAY, name });
  return post(`content-length: ${Buffer.byteLength(body)}\r\n`, body);
};
const sized = (body: string) => post(`content-length: ${Buffer.byteLength(body)}\r\n`, body);

/** A request that ends the connection if no earlier request has ended it. */
const LAST = `GET /healthz HTTP/1.1\r\n${HOST}connection: close\r\n\r\n`;

/** Sends bytes and returns everything the server sent before it closed. If the server continues after the attack, the last answer is the answer to LAST. */
async function sent(text: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    received += chunk;
  });
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  await once(socket, 'connect');
  socket.write(text);
  socket.write(LAST);
  await closed;
  return received;
}

const statusesOf = (answer: string) =>
  [...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);

type Attack = readonly [of: string, text: string | Buffer, status: string, says?: string];

const CHUNKED = 'transfer-encoding: chunked\r\n';
const ATTACKS: Attack[] = [
  // Boundaries between requests
  ['a length and chunks', post(`${LENGTH}${CHUNKED}`, `0\r\n\r\n${HIDDEN}`), '400'],
  ['two transfer codings', post(`${CHUNKED}transfer-encoding: x\r\n`, `0\r\n\r\n${HIDDEN}`), '400'],
  ['an almost valid transfer coding', post('transfer-encoding: xchunked\r\n', `0\r\n\r\n${HIDDEN}`), '400'],
  [
    'chunked not as the last coding',
    post('transfer-encoding: chunked, identity\r\n', `0\r\n\r\n${HIDDEN}`),
    '400',
  ],
  ['a space before a colon', post('transfer-encoding : chunked\r\n', `0\r\n\r\n${HIDDEN}`), '400'],
  ['two lengths', post(`content-length: 0\r\n${LENGTH}`, BODY), '400'],
  ['the same length twice', post(LENGTH + LENGTH, BODY), '400'],
  ['a length with a sign', post(`content-length: +${BODY.length}\r\n`, BODY), '400'],
  ['a negative length', post('content-length: -1\r\n', BODY), '400'],
  ['a length in another base', post('content-length: 0x10\r\n', BODY), '400'],
  ['a length of 1 GB', post('content-length: 1000000000\r\n', BODY), '413', 'body-too-large'],
  ['a chunk whose size is not a number', post(CHUNKED, 'zz\r\nabc\r\n0\r\n\r\n'), '400'],
  ['a chunk with 20 kB beside its size', post(CHUNKED, `1;${'a'.repeat(20_000)}\r\n{\r\n0\r\n\r\n`), '400'],
  ['chunks with bare line feeds', post(CHUNKED, '1\n{\n0\n\n'), '400'],
  ['trailers beyond the limit of headers', post(CHUNKED, `0\r\n${'x-a: b\r\n'.repeat(5000)}\r\n`), '431'],
  ['bare line feeds', get('/v1/queues').replaceAll('\r\n', '\n'), '400'],
  ['a header on two lines', get('/v1/queues', 'x: a\r\n b\r\n'), '400'],
  ['NUL in a header', get('/v1/queues', 'x: a\0b\r\n'), '400'],
  ['2,500 headers', get('/v1/queues', 'a:b\r\n'.repeat(2500)), '431'],
  [
    'a request in the body of a GET',
    get('/v1/queues', `content-length: ${HIDDEN.length}\r\n`) + HIDDEN,
    '200',
  ],
  // Other protocols
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '400'],
  ['the greeting of TLS', Buffer.from('160301020001000', 'hex'), '400'],
  ['an upgrade to HTTP/2', get('/v1/nothing', 'connection: upgrade\r\nupgrade: h2c\r\n'), '404'],
  ['an upgrade to WebSocket', get('/v1/nothing', 'connection: upgrade\r\nupgrade: websocket\r\n'), '404'],
  // Hosts and targets
  ['two hosts, the second foreign', get('/v1/queues', 'host: evil.test\r\n'), '400', 'more than one Host'],
  ['two hosts, the first foreign', get('/v1/queues').replace(HOST, `host: evil.test\r\n${HOST}`), '400'],
  ['no host', get('/v1/queues').replace(HOST, ''), '403', 'forbidden'],
  [
    'no host in HTTP/1.0',
    get('/v1/queues', 'connection: keep-alive\r\n').replace(HOST, '').replace('1.1', '1.0'),
    '403',
    'forbidden',
  ],
  ['a foreign host in the target', get('http://evil.test/v1/queues'), '403', 'forbidden'],
  ['a foreign host after an @', get('/v1/queues').replace(HOST, 'host: 127.0.0.1:80@evil.test\r\n'), '403'],
  ['a target of another kind', get('x:/v1/queues'), '400'],
  ['a path that looks like a host', get('//evil.test/%2e%2e'), '404'],
  ['a path with a backslash', get('/v1\\queues'), '404'],
  ['a path with a parameter', get('/v1/queues;x=1'), '404'],
  // Cookies
  [
    'two session cookies',
    get('/v1/queues', 'cookie: echelon_session=a; echelon_session=b\r\n'),
    '400',
    'session cookie',
  ],
  [
    'two cookie headers',
    get('/v1/queues', 'cookie: echelon_session=a\r\ncookie: echelon_session=b\r\n'),
    '400',
  ],
  ...['', '..', 'a.9999999999999.x', '%', '"a\\"b"', 'a'.repeat(5000)].map(
    (value): Attack => [
      `the session cookie ${value.slice(0, 20)}`,
      get('/v1/queues', `cookie: echelon_session=${value}\r\n`).replace(AUTH, ''),
      '401',
    ],
  ),
  [
    'cookies that reach a prototype',
    get('/v1/queues', 'cookie: __proto__=1; constructor=2\r\n').replace(AUTH, ''),
    '401',
  ],
  // Line breaks that must not reach the headers of an answer
  ['a line break in a sign-in', get('/login?code=%0d%0aset-cookie:a=b').replace(AUTH, ''), '401'],
  ['a line break in a download', get(`/v1/experiments/${experiment}/logs/download?since=1%0d%0ax:y`), '400'],
  ['a line break in a bundle', get(`/v1/experiments/${experiment}/batches/1/1/bundle%0d%0ax:y`), '404'],
  [
    'an artifact path with ..',
    get(`/v1/experiments/${experiment}/artifacts/%2e%2e/%2e%2e/etc/passwd`),
    '404',
  ],
  // Compressed bodies
  ...['br', 'deflate', 'zstd', 'x-gzip', 'gzip, identity', 'IDENTITY', ''].map(
    (coding): Attack => [
      `a body in ${JSON.stringify(coding)}`,
      post(`content-encoding: ${coding}\r\n${LENGTH}`, BODY),
      '415',
    ],
  ),
  [
    'a body with two codings',
    post(`content-encoding: identity\r\ncontent-encoding: gzip\r\n${LENGTH}`, BODY),
    '415',
  ],
  // Ambiguous JSON
  ['a key twice, once escaped', sized('{"engine":"replay","name":"x","n\\u0061me":"y"}'), '400', '/name'],
  ['__proto__, escaped', sized('{"engine":"replay","name":"x","__pr\\u006fto__":{}}'), '400', '/__proto__'],
  ['a byte order mark', sized('\ufeff{}'), '400'],
  ['two documents', sized('{}{}'), '400'],
  ['a comment', sized('{/* */}'), '400'],
  [
    'a number that would be 0',
    sized('{"engine":"local","name":"x","estimator":{"name":"hgpo","gamma":1e-999}}'),
    '400',
    'smaller',
  ],
  ['64 levels and one', sized(`{"name":${'['.repeat(64)}${']'.repeat(64)}}`), '400', '64 levels'],
  ...Object.entries({
    'turns what follows': '\u202egnp.exe',
    'takes no room': 'a\u200bb',
    'commands some terminals': '\u009b31m',
    'commands all terminals': '\u001b[2J',
    'breaks the line': 'a\u2028b',
    'marks an order of bytes': '\ufeffa',
    'joins without a sign': 'a\u2060b',
    ends: 'a\u0000b',
  }).map(([what, name]): Attack => [`a name that ${what}`, named(name), '400', '/name']),
  // Cursors and conditions
  ...['', '.', 'a.b', 'AAAA.', '%00.%00', 'AAAA.AAAAAAAAAAAAAAAAAAAAAA'].map(
    (cursor): Attack => [
      `the cursor ${cursor}`,
      get(`/v1/experiments?cursor=${cursor}`),
      '400',
      'invalid-cursor',
    ],
  ),
  ...['W/"', '"', ',,,,', 'W/'.repeat(2000), '"a"'.repeat(1000)].map(
    (tags): Attack => [
      `a known answer ${tags.slice(0, 10)}`,
      get(`/v1/experiments/${experiment}`, `if-none-match: ${tags}\r\n`),
      '200',
    ],
  ),
];

describe('attacks on sockets', () => {
  for (const [of, text, status, says] of ATTACKS) {
    test(`an attack (${of}) gets ${status}`, async () => {
      const before = await store.experiments.counts();
      const answer = await sent(text);
      const [first, ...others] = statusesOf(answer);
      assert.equal(first, status, answer);
      // No answer or that to LAST: a smuggled submission would get 202.
      assert.ok(others.length === 0 || others.join() === '200', answer);
      if (says !== undefined) assert.ok(answer.includes(says), answer);
      assert.ok(!/^(?:x|set-cookie): *[ay]/im.test(answer), answer);
      assert.ok(!answer.includes(TOKEN));
      assert.equal(({} as { polluted?: unknown }).polluted, undefined);
      assert.deepEqual(await store.experiments.counts(), before);
    });
  }
});

test('names in every script, and with combined characters, are accepted', async () => {
  for (const name of [
    'שלום',
    'مرحبا',
    'می‌خواهم',
    '👩‍🔬',
    'e\u0301',
    '実験',
    '{{constructor}}',
    '%s%n',
    '=1+1',
  ]) {
    const answer = await sent(named(name));
    assert.equal(statusesOf(answer)[0], '202', `${name}: ${answer}`);
  }
});

test('a connection beyond the limit is closed, until another connection closes', async (t) => {
  const { app: small } = await appFor(t, { store, limits: { connections: 2 } });
  await small.listen({ port: 0, host: '127.0.0.1' });
  const { port: at } = small.server.address() as AddressInfo;
  const open = async () => {
    const socket = connect(at, '127.0.0.1');
    t.after(() => socket.destroy());
    socket.on('error', () => {});
    await once(socket, 'connect');
    return socket;
  };
  const answerOf = async () => {
    const socket = await open();
    let received = '';
    socket.on('data', (data) => {
      received += data.toString();
    });
    socket.end(get('/healthz', 'connection: close\r\n'));
    await once(socket, 'close');
    return received;
  };
  const held = [await open(), await open()];
  for (const socket of held) {
    socket.write(get('/healthz'));
    await once(socket, 'data');
  }
  // Fails without the limit: the server answers the request.
  assert.equal(await answerOf(), '');
  held[0]!.destroy();
  for (let tries = 0; !(await answerOf()).startsWith('HTTP/1.1 200'); tries++) assert.ok(tries < 1000);
});

test('pipelined streams on one connection free their slots when the connection closes', async (t) => {
  const { app: small } = await appFor(t, { store, limits: { streams: 3 } });
  await small.listen({ port: 0, host: '127.0.0.1' });
  const { port: at } = small.server.address() as AddressInfo;
  const socket = connect(at, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('error', () => {});
  socket.write(get(`/v1/experiments/${experiment}/events`).repeat(10));
  await once(socket, 'data');
  socket.destroy();
  for (let tries = 0; ; tries++) {
    const gone = new AbortController();
    const { status } = await fetch(`http://127.0.0.1:${at}/v1/experiments/${experiment}/events`, {
      headers: { authorization: `Bearer ${TOKEN}` },
      signal: gone.signal,
    });
    gone.abort();
    if (status === 200) break;
    assert.ok(tries < 1000);
  }
});

test('a text that is slow for regular expressions does not delay other requests', async () => {
  const quickly = async (text: string) => {
    let answer = '';
    const cpuMs = await cpuTimeOf(async () => {
      answer = await sent(text);
    });
    // A bound on order, not on speed: a quadratic pattern over 60 kB takes minutes.
    assert.ok(cpuMs < 5_000, `${cpuMs} ms for ${text.slice(0, 100)}`);
    return answer;
  };
  const bad = [
    `${'a'.repeat(60_000)}!`,
    `${'a-'.repeat(30_000)}!`,
    `${' '.repeat(60_000)}!`,
    `${'1.'.repeat(30_000)}!`,
  ];
  const verl = { engine: 'verl-agent', name: 'x', recipe: 'qwen2.5_1.5b_alfworld_train' };
  for (const text of bad) {
    const bodies = [
      { ...REPLAY, name: text },
      { ...REPLAY, project: text },
      { ...REPLAY, deadline: text },
      { ...REPLAY, clusterLabels: { [text]: text } },
      { ...REPLAY, rules: [{ when: text, do: 'mark' }] },
      { ...verl, overrides: { [text]: 1 } },
      { ...verl, overrides: { 'trainer.project_name': text } },
      { ...REPLAY, [text]: 1 },
    ];
    for (const body of bodies) {
      const answer = await quickly(sized(JSON.stringify(body)));
      assert.match(statusesOf(answer)[0] ?? '', /^(400|202)$/, answer.slice(0, 500));
    }
    const inHeader = text.slice(-9000);
    for (const header of [
      'if-none-match',
      'cookie',
      'accept',
      'idempotency-key',
      'last-event-id',
      'authorization',
    ])
      await quickly(get(`/v1/experiments/${experiment}`, `${header}: ${inHeader}\r\n`));
    for (const path of ['/v1/experiments?cursor=', '/v1/experiments?name=', '/v1/', '/login?next=/'])
      await quickly(get(path + encodeURIComponent(inHeader.slice(0, 3000))));
  }
});

test('no attack on sockets caused a server error', () => {
  const failures = logged.filter(({ level }) => Number(level) >= 50);
  assert.deepEqual(failures, []);
});
