import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { until } from '../../../../test/support/dispatch.ts';
import { createHub, type Told } from '../../src/app/hub.ts';

test('a stream that is closed and opened again at once stays the only one of its path', async (t) => {
  const streams = new Set<ServerResponse>();
  const server = createServer((_request, response) => {
    streams.add(response);
    response.once('close', () => streams.delete(response));
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const path = `http://127.0.0.1:${(server.address() as AddressInfo).port}/stream`;
  const hub = createHub();
  const told: Told[] = [];
  const isLive = () => told.some((one) => one.kind === 'state' && one.state === 'live');
  const [first, second] = [() => {}, (one: Told) => void told.push(one)];
  hub.open({ kind: 'open', path }, first);
  hub.close({ kind: 'close', path }, first);
  hub.open({ kind: 'open', path }, second);
  await until(async () => isLive() && streams.size === 1, 'the second stream is open alone');
  const shared: Told[] = [];
  const third = (one: Told) => void shared.push(one);
  hub.open({ kind: 'open', path }, third);
  t.after(() => hub.close({ kind: 'close', path }, third));
  // Fails if the end of the first stream forgets the second: the third would open a connection of its own.
  assert.deepEqual(shared, [{ path, kind: 'state', state: 'live', reason: '' }]);
  hub.close({ kind: 'close', path }, second);
  hub.close({ kind: 'close', path }, third);
  await until(async () => streams.size === 0, 'no stream is open');
});
