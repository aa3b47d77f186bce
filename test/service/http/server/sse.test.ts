import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { AttemptEvent, StreamEntry } from '../../../../src/core/events.ts';
import { entryId } from '../../../../src/core/ids.ts';
import {
  type EventStreamOptions,
  formatEntry,
  type StreamEnd,
  sendEvents,
} from '../../../../src/http/server/sse.ts';
import { openStream } from '../../../support/event-stream.ts';
import type { Scope } from '../../../support/store.ts';

function entry(sequence: number, text = 'x'): StreamEntry {
  const event: AttemptEvent = { type: 'log', source: 'stdout', lines: [text], cutBytes: 0 };
  return { id: entryId(1, sequence), at: sequence, event };
}

/** A client that requests the stream and reads nothing of it. */
async function askAndTakeNothing(scope: Scope, port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  scope.after(async () => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
}

/** A server with one stream; `end` is how the stream ended. */
async function serve(
  scope: Scope,
  {
    entries,
    ...options
  }: Partial<EventStreamOptions> & {
    entries: (signal: AbortSignal) => AsyncIterable<StreamEntry>;
  },
) {
  const { promise: end, resolve } = Promise.withResolvers<{ end: StreamEnd; error?: unknown }>();
  let maxQueued = 0;
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    void sendEvents({
      response,
      closing: new AbortController().signal,
      heartbeatMs: 60_000,
      stallMs: 60_000,
      bufferBytes: 64 * 1024,
      ...options,
      async *frames(signal) {
        for await (const one of entries(signal)) {
          maxQueued = Math.max(maxQueued, response.writableLength);
          yield { bytes: Buffer.from(formatEntry(one)) };
        }
      },
    }).then(resolve);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  scope.after(async () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, port, end, maxQueued: () => maxQueued };
}

/** Waits until the signal aborts. */
async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

describe('sendEvents', () => {
  test('sendEvents sends all entries in order, then an end event', async (t) => {
    const { url, end } = await serve(t, {
      async *entries() {
        for (let sequence = 1; sequence <= 100; sequence++) yield entry(sequence, 'line\nbreak');
      },
    });
    const events = await (await openStream(t, url)).rest();
    assert.equal(events.length, 101);
    assert.equal(events.at(-1)?.event, 'end');
    events.slice(0, -1).forEach((event, index) => {
      assert.deepEqual(JSON.parse(event.data), entry(index + 1, 'line\nbreak'));
      assert.equal(event.id, entryId(1, index + 1));
      assert.equal(event.event, 'log');
    });
    assert.deepEqual(await end, { end: 'complete' });
  });

  test('sendEvents disconnects a client that does not read, after a bounded number of entries', async (t) => {
    let taken = 0;
    const text = 'x'.repeat(16 * 1024);
    const { port, end, maxQueued } = await serve(t, {
      stallMs: 100,
      async *entries() {
        for (;;) yield entry(++taken, text);
      },
    });
    await askAndTakeNothing(t, port);
    assert.deepEqual(await end, { end: 'stalled' });
    // Fails if the next entry is written before the last one was read. The bound is the buffer and one entry.
    assert.ok(maxQueued() <= 64 * 1024 + 2 * text.length, `${maxQueued()} bytes waited`);
    // At most the buffers of both kernels and of the stream. Without a bound the loop above never ends.
    assert.ok(taken * text.length < 64 * 1024 * 1024, `${taken} entries`);
  });

  // Times out if only a full buffer counts as stalled.
  test('sendEvents disconnects a client that does not read, even if the buffer is not full and no entry follows', {
    timeout: 30_000,
  }, async (t) => {
    const { port, end } = await serve(t, {
      stallMs: 100,
      heartbeatMs: 10,
      bufferBytes: 64 * 1024 * 1024,
      async *entries(signal) {
        // More than the two kernels' buffers hold, less than the stream's own.
        for (let sequence = 1; sequence <= 32; sequence++) yield entry(sequence, 'x'.repeat(1024 * 1024));
        await untilAborted(signal);
      },
    });
    await askAndTakeNothing(t, port);
    assert.deepEqual(await end, { end: 'stalled' });
  });

  test('sendEvents gives clients different delays before they reconnect', async (t) => {
    const { url } = await serve(t, { entries: async function* () {} });
    const texts = await Promise.all(Array.from({ length: 20 }, async () => await (await fetch(url)).text()));
    const waits = texts.map((text) => Number(/^retry: (\d+)$/m.exec(text)?.[1]));
    assert.ok(
      waits.every((wait) => wait >= 1000 && wait < 4000),
      String(waits),
    );
    assert.ok(new Set(waits).size > 5, String(waits));
  });

  test('sendEvents stops reading entries when the client disconnects', async (t) => {
    let aborted = false;
    const { url, end } = await serve(t, {
      async *entries(signal) {
        yield entry(1);
        await untilAborted(signal);
        aborted = true;
      },
    });
    const stream = await openStream(t, url);
    await stream.next();
    await stream.close();
    assert.deepEqual(await end, { end: 'gone' });
    assert.ok(aborted);
  });

  test('sendEvents sends heartbeats while there are no entries', async (t) => {
    const go = Promise.withResolvers<void>();
    const { url } = await serve(t, {
      heartbeatMs: 5,
      async *entries() {
        await go.promise;
        yield entry(1);
      },
    });
    const stream = await openStream(t, url);
    const rest = stream.rest();
    while (stream.comments.length < 2) await pause(1);
    go.resolve();
    assert.equal((await rest).length, 2);
  });

  test('sendEvents sends no end event if the entries fail or the server closes', async (t) => {
    const failure = new Error('lost');
    const failing = await serve(t, {
      // biome-ignore lint/correctness/useYield: it fails before its first entry
      async *entries() {
        throw failure;
      },
    });
    const stream = await openStream(t, failing.url);
    assert.deepEqual(await stream.rest(), []);
    assert.deepEqual(await failing.end, { end: 'failed', error: failure });

    const closing = new AbortController();
    const closed = await serve(t, {
      closing: closing.signal,
      async *entries(signal) {
        yield entry(1);
        await untilAborted(signal);
      },
    });
    const second = await openStream(t, closed.url);
    await second.next();
    closing.abort();
    assert.deepEqual(await second.rest(), []);
  });
});

test('sendEvents sends the reason when the client may no longer read', async (t) => {
  const refused = new AbortController();
  const { url, end } = await serve(t, {
    refused: refused.signal,
    async *entries(signal) {
      yield entry(1);
      await untilAborted(signal);
    },
  });
  const stream = await openStream(t, url);
  await stream.next();
  refused.abort('the key was revoked');
  assert.deepEqual(
    (await stream.rest()).map(({ event, data }) => [event, data]),
    [['closed', '{"reason":"the key was revoked"}']],
  );
  assert.deepEqual(await end, { end: 'refused' });
});

test('formatEntry writes an entry as one message, even if its text has line breaks', () => {
  const text = formatEntry(entry(2, 'a\n\nb'));
  assert.match(text, /^id: 1-2097152\nevent: log\ndata: \{.*\}\n\n$/);
});
