import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { AttemptEvent } from '../../../../src/core/events.ts';
import { makeKey } from '../../../support/access.ts';
import { openStream } from '../../../support/event-stream.ts';
import { appFor, TOKEN } from '../../../support/http-app.ts';
import { storeThrough } from '../../../support/made-up-store.ts';
import { running, storeFor } from '../../../support/store.ts';

const { store } = await storeFor({ after });
const log = (text: string): AttemptEvent => ({ type: 'log', source: 'stdout', lines: [text], cutBytes: 0 });

test('200 clients of one experiment share one reader, and each gets every event', async (t) => {
  let reads = 0;
  const counted = storeThrough(store, (path, call) => {
    if (/^events\.(?:read|follow|tail)$/.test(path)) reads++;
    return call();
  });
  const { app } = await appFor(t, { store: counted, limits: { streams: 1000 } });
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  const lease = await running(store);
  const last = (await store.events.tail(lease.experiment, 1))[0]!.id;
  const url = `${origin}/v1/experiments/${lease.experiment}/events?after=${last}`;
  const clients = await Promise.all(Array.from({ length: 200 }, () => openStream(t, url)));
  reads = 0;
  for (let sequence = 1; sequence <= 30; sequence++) {
    await store.events.append(lease, [{ sequence, at: 0, event: log(`line ${sequence}`) }]);
  }
  await store.attempts.end(lease, { to: 'succeeded', reason: 'done' });
  for (const events of await Promise.all(clients.map((client) => client.rest()))) {
    assert.equal(events.length, 32);
    assert.equal(events.at(-1)?.event, 'end');
  }
  // Fails if each client reads the store itself: that takes thousands of calls.
  assert.ok(reads < 20, `${reads} calls of the store`);
});

test('a client that stops reading is disconnected at a bounded cost, and resumes at its cursor', async (t) => {
  const { app, logged } = await appFor(t, { store, limits: { stallMs: 2_000 } });
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  const lease = await running(store);
  const path = `/v1/experiments/${lease.experiment}/events`;
  const { port } = app.server.address() as { port: number };
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  let received = '';
  socket.on('data', (data) => {
    received += data.toString();
    if (received.includes('line 3 ')) socket.pause();
  });
  socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${TOKEN}\r\n\r\n`);
  const good = await openStream(t, origin + path);
  const all = good.rest();
  const count = 2000;
  for (let first = 1; first <= count; first += 100) {
    const events = Array.from({ length: 100 }, (_, index) => ({
      sequence: first + index,
      at: 0,
      event: log(`line ${first + index} ${'x'.repeat(16_000)}`),
    }));
    await store.events.append(lease, events);
  }
  while (!logged.some(({ msg }) => msg === 'event stream cut: the client did not read')) await pause(5);
  await store.attempts.end(lease, { to: 'succeeded', reason: 'done' });
  // The stalled client does not delay other clients.
  assert.equal((await all).filter(({ event }) => event === 'log').length, count);
  const id = [...received.matchAll(/^id: (\S+)$/gm)].at(-1)![1]!;
  const rest = await (await openStream(t, origin + path, { 'last-event-id': id })).rest();
  const recorded = (await store.events.read(lease.experiment, id, 10_000)).map((entry) => entry.id);
  assert.deepEqual(
    rest.slice(0, -1).map((event) => event.id),
    recorded,
  );
});

// Times out if the end of a key does not close its streams.
test('the stream of a revoked key closes with the reason', { timeout: 30_000 }, async (t) => {
  const { app } = await appFor(t, { store });
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  const { experiment } = await running(store);
  const { id, token } = await makeKey(store);
  const headers = { authorization: `Bearer ${token}` };
  const stream = await openStream(t, `${origin}/v1/experiments/${experiment}/events`, headers);
  await store.access.changeKey(id, (key) => ({ ...key, revokedAt: 1 }));
  const last = (await stream.rest()).at(-1);
  assert.equal(last?.event, 'closed');
  assert.deepEqual(JSON.parse(last.data), { reason: 'the key was revoked' });
});

test('a stream beyond the limit of its key or process gets 429, until another stream closes', async (t) => {
  const { app, call } = await appFor(t, { store, limits: { streams: 2, allStreams: 3 } });
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  const { experiment } = await running(store);
  const path = `/v1/experiments/${experiment}/events`;
  const keys = await Promise.all([makeKey(store), makeKey(store)]);
  const own = [await openStream(t, origin + path), await openStream(t, origin + path)];
  const third = await call('GET', path);
  assert.equal(third.statusCode, 429);
  assert.match(third.json().detail, /No more than 2 event streams/);
  const streams = [...own, await openStream(t, origin + path, { authorization: `Bearer ${keys[0]!.token}` })];
  const { token } = keys[1]!;
  const refused = await call('GET', path, { token });
  assert.equal(refused.statusCode, 429);
  assert.match(refused.json().detail, /its most/);
  assert.equal(refused.headers['retry-after'], '1');
  await streams[0]!.close();
  for (let tries = 0; ; tries++) {
    const { response } = await openStream(t, origin + path, { authorization: `Bearer ${token}` });
    if (response.status === 200) break;
    assert.ok(tries < 1000);
  }
});
