import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { type TestContext, test } from 'node:test';
import { CliError, EXIT } from 'command-kit/exit';
import { AnswerLost, createClient } from '../../../src/cli/client.ts';
import { instantOf } from '../../../src/cli/instants.ts';
import { REPLAY } from '../../support/http-app.ts';
import { freePort } from '../../support/redis.ts';

async function serving(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

test('a request carries the token, its query without undefined values, and its body', async (t) => {
  const seen: { url: string; authorization: string; body: string }[] = [];
  const url = await serving(t, async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    seen.push({ url: request.url!, authorization: request.headers.authorization!, body });
    response.setHeader('content-type', 'application/json').end('{"ok":true}');
  });
  const client = createClient({ url: `${url}/`, token: 'abc' });
  assert.deepEqual(
    await client.get('/v1/experiments', { query: { limit: 1, project: undefined, name: 'ü&' } }),
    { ok: true },
  );
  await client.post('/v1/experiments', { body: REPLAY });
  assert.deepEqual(seen, [
    { url: '/v1/experiments?limit=1&name=%C3%BC%26', authorization: 'Bearer abc', body: '' },
    { url: '/v1/experiments', authorization: 'Bearer abc', body: JSON.stringify(REPLAY) },
  ]);
});

test('ages are by the clock of the server, which is asked for it if no answer has come', async (t) => {
  const hour = 3_600_000;
  let requests = 0;
  const url = await serving(t, (_, response) => {
    requests++;
    const date = new Date(Date.now() + hour).toUTCString();
    response.writeHead(200, { 'content-type': 'application/json', date }).end('{}');
  });
  const client = createClient({ url, token: 't' });
  const ago = await instantOf({ agoMs: hour }, client);
  assert.ok(Math.abs(ago - Date.now()) < 2_000);
  assert.ok(Math.abs(client.now() - Date.now() - hour) < 2_000);
  await client.serverTime();
  assert.equal(requests, 1);
});

test('a request that cannot be sent is wrong usage, not a missing answer', async () => {
  const client = createClient({ url: 'http://127.0.0.1:1', token: 't' });
  const headers = { 'idempotency-key': 'schlüssel…' };
  await assert.rejects(client.post('/v1/experiments', { body: REPLAY, headers }), (error: unknown) => {
    assert.ok(error instanceof CliError && !(error instanceof AnswerLost));
    assert.equal(error.exitCode, EXIT.usage);
    return /cannot be sent/.test(error.message);
  });
});

test('a body that is too large is refused with its largest field', async (t) => {
  const url = await serving(t, (_, response) => {
    const problem = { code: 'body-too-large', detail: 'The body has more than 9 bytes.' };
    response.writeHead(413, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem));
  });
  const files = { 'a.py': 'x', 'data/b.txt': 'x'.repeat(5_000) };
  const body = { ...REPLAY, files } as never;
  await assert.rejects(createClient({ url, token: 't' }).post('/v1/experiments', { body }), {
    message: 'The body has more than 9 bytes. The largest field is /files/data/b.txt with 5002 bytes.',
  });
});

test('a problem document becomes one error with every field', async (t) => {
  const url = await serving(t, (_, response) => {
    const problem = {
      code: 'invalid-spec',
      detail: 'The spec is not valid.',
      problems: [
        { field: '/estimator/nam', message: 'unknown' },
        { field: '', message: 'must be an object' },
      ],
    };
    response.writeHead(400, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem));
  });
  await assert.rejects(createClient({ url, token: 't' }).get('/v1/caller'), (error: unknown) => {
    assert.ok(error instanceof CliError);
    assert.deepEqual([error.exitCode, error.code], [EXIT.refused, 'invalid-spec']);
    assert.equal(error.message, 'The spec is not valid.\n  /estimator/nam: unknown\n  must be an object');
    return true;
  });
});

test("the id of a sweep in place of an experiment's gets a hint, and the reverse", async (t) => {
  const url = await serving(t, (_, response) => {
    response.writeHead(404).end(JSON.stringify({ code: 'not-found', detail: 'There is no experiment.' }));
  });
  const client = createClient({ url, token: 't' });
  const [SWEEP, EXPERIMENT] = ['swp-00cz8h3k7n2q4r5s6t7v', 'exp-00cz8h3k7n2q4r5s6t7v'];
  await assert.rejects(client.get('/v1/experiments/{id}/logs', { path: { id: SWEEP } }), /id of a sweep/);
  await assert.rejects(client.get('/v1/experiments/{id}', { path: { id: EXPERIMENT } }), /experiment\.$/);
  await assert.rejects(client.get('/v1/sweeps/{id}', { path: { id: EXPERIMENT } }), /id of an experiment/);
});

test('without a server the error names the address and the remedy', async () => {
  await assert.rejects(
    createClient({ url: 'http://127.0.0.1:1', token: 't' }).get('/v1/caller'),
    (error: unknown) =>
      error instanceof CliError &&
      error.exitCode === EXIT.unreachable &&
      /127\.0\.0\.1:1.*echelon up/.test(error.message),
  );
});

test("an answer that is not the API's is an error without a stack trace", async (t) => {
  const answers: Record<string, RequestListener> = {
    'is not an Echelon API: its answer is not JSON': (_, response) => response.end('<html>It works!</html>'),
    'is not an Echelon API: it answers 404 Not Found to /v1/caller': (_, response) =>
      response.writeHead(404).end('<html>'),
    'No answer from .*: 502 Bad Gateway, probably from a proxy': (_, response) =>
      response.writeHead(502).end('<html>'),
    'it accepted the request but sent nothing': () => undefined,
  };
  for (const [said, listener] of Object.entries(answers)) {
    const timeoutMs = said.startsWith('it accepted') ? 100 : 10_000;
    const client = createClient({ url: await serving(t, listener), token: 't', timeoutMs });
    await assert.rejects(client.get('/v1/caller'), (error: unknown) => {
      assert.ok(error instanceof CliError);
      assert.equal(error.exitCode, EXIT.unreachable);
      assert.match(error.message, new RegExp(said));
      return true;
    });
  }
});

test('https to a server without TLS is explained', async (t) => {
  const url = await serving(t, (_, response) => response.end('{}'));
  const client = createClient({ url: url.replace('http:', 'https:'), token: 't' });
  await assert.rejects(
    client.get('/v1/caller'),
    /the server does not use TLS. Try an address that begins with http:/,
  );
});

test('a slow answer is announced once', async (t) => {
  const url = await serving(t, (_, response) => void setTimeout(() => response.end('{}'), 2_300));
  const said: string[] = [];
  const client = createClient({ url, token: 't', onSlow: (text) => void said.push(text) });
  await Promise.all([client.get('/v1/caller'), client.get('/v1/caller')]);
  assert.deepEqual(said, [`Waiting for an answer from ${url}`]);
});

test('a stream that never got an answer ends at once', { timeout: 10_000 }, async () => {
  // Fails if it retries as after a cut: that would take a minute without a message.
  const client = createClient({ url: 'http://127.0.0.1:1', token: 't' });
  const { signal } = new AbortController();
  await assert.rejects(Array.fromAsync(client.events('exp-1', { signal })), /No answer from/);
});

test('a cut stream is announced, and again when it continues after the server was away', async (t) => {
  const away = JSON.stringify({ code: 'store-unavailable', detail: 'The store is away.', retry: true });
  const message = (n: number) => `id: 1-${n}\ndata: {"at":1,"event":{}}\n\n`;
  let requests = 0;
  const url = await serving(t, (_, response) => {
    requests += 1;
    if (requests === 1) response.end(message(1));
    else if (requests < 4) response.writeHead(503).end(away);
    else response.end(`${message(2)}event: end\ndata: {}\n\n`);
  });
  const said: string[] = [];
  const client = createClient({ url, token: 't', onCut: (text) => void said.push(text) });
  const { signal } = new AbortController();
  const seen = await Array.fromAsync(client.events('exp-1', { signal }), ({ id }) => id);
  assert.deepEqual(seen, ['1-1', '1-2']);
  assert.deepEqual(said, [
    'The store is away. Retrying for a minute.',
    'Connected again; the stream continues after the last event.',
  ]);
});

test('a broken stream of events resumes after the last event, until its end', async (t) => {
  const frame = (n: number) =>
    `id: 1-${n}\nevent: stage\ndata: ${JSON.stringify({ at: n, event: { type: 'stage', name: 's', step: n, steps: 9 } })}\n\n`;
  const asked: (string | undefined)[] = [];
  const url = await serving(t, (request: IncomingMessage, response) => {
    asked.push(request.headers['last-event-id'] as string | undefined);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (asked.length === 1) {
      response.write(`: alive\n\n${frame(1)}${frame(2)}`);
      setImmediate(() => response.destroy());
    } else {
      response.end(`${frame(3)}event: end\ndata: {}\n\n`);
    }
  });
  const seen: string[] = [];
  for await (const { id } of createClient({ url, token: 't' }).events('exp-1', {
    signal: new AbortController().signal,
  }))
    seen.push(id);
  assert.deepEqual(seen, ['1-1', '1-2', '1-3']);
  assert.deepEqual(asked, [undefined, '1-2']);
});

test('a refused stream is an error at once, not a retry', async (t) => {
  let requests = 0;
  const url = await serving(t, (_, response) => {
    requests += 1;
    response.writeHead(404).end('{"code":"not-found","detail":"no such experiment"}');
  });
  const events = createClient({ url, token: 't' }).events('exp-x', { signal: new AbortController().signal });
  await assert.rejects(Array.fromAsync(events), /no such experiment/);
  assert.equal(requests, 1);
});

test('a stream that the server closes for a revoked key is not resumed', async (t) => {
  let requests = 0;
  const url = await serving(t, (_, response) => {
    requests += 1;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end('event: closed\ndata: {"reason":"the key was revoked"}\n\n');
  });
  const { signal } = new AbortController();
  const read = async () => {
    for await (const _event of createClient({ url, token: 't' }).events('exp-x', { signal }));
  };
  await assert.rejects(read(), (error: unknown) => {
    assert.ok(error instanceof CliError);
    assert.deepEqual(
      [error.exitCode, error.message],
      [EXIT.refused, 'The stream was closed: the key was revoked.'],
    );
    return true;
  });
  assert.equal(requests, 1);
});

test('a request whose answer is lost may have arrived; one without a connection has not', async (t) => {
  const cut = await serving(t, (request) => void request.socket.destroy());
  const proxied = await serving(t, (_, response) => response.writeHead(502).end('bad gateway'));
  for (const url of [cut, proxied])
    await assert.rejects(createClient({ url, token: 't' }).get('/v1/caller'), AnswerLost);
  const unused = `http://127.0.0.1:${await freePort()}`;
  await assert.rejects(createClient({ url: unused, token: 't' }).get('/v1/caller'), (error: unknown) => {
    assert.ok(error instanceof CliError && !(error instanceof AnswerLost));
    return error.exitCode === EXIT.unreachable;
  });
});
