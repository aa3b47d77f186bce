import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { appFor, LOCAL, TOKEN } from '../../../test/support/http-app.ts';
import { storeFor } from '../../../test/support/store.ts';
import { ApiError, ClientError, connect, events } from '../src/index.ts';

const { store } = await storeFor({ after });
const { app } = await appFor({ after }, { store });
await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address() as { port: number };
const url = `http://127.0.0.1:${address.port}/`;
const client = connect({ url, token: TOKEN });

test('the client submits, reads, lists, cancels and deletes over a real connection', async () => {
  const request = { body: LOCAL, headers: { 'idempotency-key': 'once' } };
  const first = await client.request('post', '/v1/experiments', request);
  const again = await client.post('/v1/experiments', request);
  assert.equal(first.response.status, 202);
  assert.deepEqual(again, first.data);
  const path = { id: first.data.id };
  const { state } = await client.get('/v1/experiments/{id}', { path });
  assert.equal(state, 'queued');
  const listed = await client.get('/v1/experiments', {
    query: { state: ['queued', 'running'], limit: undefined },
  });
  assert.ok(listed.items.some(({ id }) => id === path.id));
  await client.post('/v1/experiments/{id}/cancel', { path, body: { reason: 'enough' } });
  assert.equal(await client.delete('/v1/experiments/{id}', { path }), undefined);
});

test('the client yields the events of an experiment in order, until the experiment ends', async () => {
  const { id } = await client.post('/v1/experiments', { body: LOCAL });
  await client.post('/v1/experiments/{id}/cancel', { path: { id } });
  const seen: string[] = [];
  for await (const { data: message } of events(client, id))
    if (message.event.type === 'state') seen.push(message.event.to);
  assert.deepEqual(seen, ['queued', 'cancelled']);
});

test('a refused request throws an ApiError with the problem document, a missing answer a ClientError', async () => {
  const absent = client.get('/v1/experiments/{id}', { path: { id: 'none' } });
  await assert.rejects(absent, (error) => error instanceof ApiError && error.response?.status === 404);
  await assert.rejects(absent, { code: 'not-found', status: 404, retry: false });
  const nowhere = connect({ url: 'http://127.0.0.1:1', token: TOKEN });
  await assert.rejects(
    nowhere.get('/v1/experiments'),
    (thrown: unknown) => thrown instanceof ClientError && thrown.code === 'unreachable',
  );
  // Times out if a refused stream is opened again.
  await assert.rejects(
    async () => {
      for await (const one of events(client, 'none')) assert.fail(JSON.stringify(one));
    },
    (thrown: unknown) => thrown instanceof ApiError && thrown.code === 'not-found',
  );
  const stranger = connect({ url, token: 'unknown' });
  await assert.rejects(stranger.get('/v1/experiments'), { code: 'unauthenticated' });
});

test('an aborted request throws the reason of its caller', async () => {
  const reason = new Error('enough');
  const aborted = client.get('/v1/experiments', { signal: AbortSignal.abort(reason) });
  await assert.rejects(aborted, (error) => error === reason);
});

test('a request to a server that is silent beyond the timeout throws unreachable', async (t) => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  t.after(() => {
    silent.closeAllConnections();
    silent.close();
  });
  await once(silent, 'listening');
  const { port } = silent.address() as { port: number };
  const waiting = connect({ url: `http://127.0.0.1:${port}`, token: TOKEN, timeoutMs: 20 });
  await assert.rejects(waiting.get('/v1/experiments'), { code: 'unreachable' });
});

test("the client opens a file unread, and uses the caller's `fetch` and `toError`", async () => {
  const asked: string[] = [];
  const own = connect({
    url,
    token: TOKEN,
    fetch: (address, init) => {
      asked.push(`${init.method} ${new URL(address).pathname}`);
      return fetch(address, init);
    },
    toError: (error, path) => new Error(`${path}: ${error.code}`),
  });
  const { id } = await own.post('/v1/experiments', { body: LOCAL });
  const log = await own.open('/v1/experiments/{id}/logs/download', { path: { id } });
  assert.equal(await log.text(), '');
  assert.deepEqual(asked, ['POST /v1/experiments', `GET /v1/experiments/${id}/logs/download`]);
  const absent = own.get('/v1/experiments/{id}', { path: { id: 'a b' } });
  await assert.rejects(absent, /^Error: \/v1\/experiments\/a%20b: not-found$/);
});
