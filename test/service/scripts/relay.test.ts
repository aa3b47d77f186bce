import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { answerRelay, openRelay } from '../../../scripts/relay.mjs';

test('a request to the port of a relay reaches the server behind its socket', async (t) => {
  const server = createServer((_request, response) => response.end('from the namespace'));
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port, socket } = await openRelay(0);
  answerRelay({ port: (server.address() as AddressInfo).port, socket });
  const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } });
  assert.equal(await answer.text(), 'from the namespace');
});
