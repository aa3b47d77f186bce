import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { follow, StreamClosed } from '../src/follow.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** A server that answers its n-th request with the n-th of `answers`, and how `follow` opens it. */
async function serving(t: TestContext, answers: readonly Answer[]) {
  const resumed: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    const answer = answers[resumed.length];
    resumed.push(request.headers['last-event-id'] as string | undefined);
    if (answer === undefined) response.writeHead(500).end();
    else answer(response, request);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const open = async (headers: Record<string, string>, signal: AbortSignal): Promise<Response> => {
    const response = await fetch(`http://127.0.0.1:${port}/`, { headers, signal });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return response;
  };
  return { open, resumed };
}

const message = (id: number) => `id: ${id}\ndata: {"n":${id}}\n\n`;
const END = 'event: end\ndata: {}\n\n';

async function numbers(stream: AsyncIterable<{ id: string; data: { n: number } }>): Promise<number[]> {
  const found: number[] = [];
  for await (const { data } of stream) found.push(data.n);
  return found;
}

test('follow yields each message once and in order over broken connections', async (t) => {
  const { open, resumed } = await serving(t, [
    (response) => response.write(message(1) + message(2), () => response.destroy()),
    (response) => response.end(`: nothing yet\n\n${message(3)}`),
    (response) => response.end(message(4) + END),
  ]);
  assert.deepEqual(await numbers(follow(open, { pauseMs: 1 })), [1, 2, 3, 4]);
  assert.deepEqual(resumed, [undefined, '2', '3']);
});

test('follow replaces a connection on which nothing arrives, and not one with heartbeats', async (t) => {
  const beats: NodeJS.Timeout[] = [];
  t.after(() => beats.forEach(clearInterval));
  const { open, resumed } = await serving(t, [
    (response) => response.write(message(1)),
    (response) => {
      response.write(message(2));
      const beat = setInterval(() => response.write(': heartbeat\n\n'), 20);
      beats.push(beat);
      setTimeout(() => response.end(message(3) + END), 2_000);
    },
  ]);
  assert.deepEqual(await numbers(follow(open, { pauseMs: 1, silenceMs: 1_500 })), [1, 2, 3]);
  assert.deepEqual(resumed, [undefined, '1']);
});

test('follow starts after the cursor `after`, and an answer of 204 ends it', async (t) => {
  const { open, resumed } = await serving(t, [(response) => response.writeHead(204).end()]);
  assert.deepEqual(await numbers(follow(open, { after: '7' })), []);
  assert.deepEqual(resumed, ['7']);
});

test('follow throws a fatal error immediately, and any other after its time limit', async (t) => {
  const { open } = await serving(t, []);
  await assert.rejects(numbers(follow(open, { isFatal: () => true })), /status 500/);
  await assert.rejects(numbers(follow(open, { patienceMs: 0, pauseMs: 2 })), /status 500/);
});

test('an abort ends follow without an error, even between two messages', async (t) => {
  const { open } = await serving(t, [(response) => response.write(message(1))]);
  const leaving = new AbortController();
  const found: number[] = [];
  for await (const { data } of follow<{ n: number }>(open, { signal: leaving.signal })) {
    found.push(data.n);
    leaving.abort();
  }
  assert.deepEqual(found, [1]);
});

test('follow does not yield a start event, but resumes after its id', async (t) => {
  const { open, resumed } = await serving(t, [
    (response) => response.end('id: 4\nevent: start\ndata: {}\n\n'),
    (response) => response.end(message(5) + END),
  ]);
  assert.deepEqual(await numbers(follow(open, { pauseMs: 1 })), [5]);
  assert.deepEqual(resumed, [undefined, '4']);
});

test('follow does not reopen a stream that the server closed for good', async (t) => {
  // Fails if the closed stream counts as a broken connection: there is no second answer.
  const { open, resumed } = await serving(t, [
    (response) => response.end(`${message(1)}event: closed\ndata: {"reason":"the key was revoked"}\n\n`),
  ]);
  await assert.rejects(
    numbers(follow(open, { pauseMs: 1, patienceMs: 0 })),
    (error) => error instanceof StreamClosed && error.reason === 'the key was revoked',
  );
  assert.equal(resumed.length, 1);
});
