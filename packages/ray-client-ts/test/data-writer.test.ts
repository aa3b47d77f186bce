import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DataStream, DataWriter } from '../src/data-writer.ts';
import { Exchange } from '../src/exchange.ts';
import type { DataRequest } from '../src/protocol.ts';

/** A stream whose transport takes what the test lets it take. */
function slowStream() {
  const written: DataRequest[] = [];
  const taken: (() => void)[] = [];
  const stream = {
    write: (message: DataRequest, done: () => void) => {
      written.push(message);
      taken.push(done);
    },
  } as unknown as DataStream;
  return { stream, written, take: () => taken.shift()?.() };
}

test('chunks of one question are never mixed with another', () => {
  const { stream, written, take } = slowStream();
  const writer = new DataWriter(stream, () => 10 * 2 ** 20);
  writer.enqueue(new Exchange(1, { kind: 'put', data: new Uint8Array(45 * 2 ** 20) }));
  writer.enqueue(new Exchange(2, { kind: 'info' }));
  assert.equal(written.length, 2, 'no more than the transport should hold');
  for (let index = 0; index < 6; index++) take();
  assert.deepEqual(
    written.map((message) => message.req_id),
    [1, 1, 1, 1, 1, 2],
  );
  assert.deepEqual(
    written.slice(0, 5).map((message) => message.put?.chunk_id),
    [0, 1, 2, 3, 4],
  );
});

test('a stopped writer writes nothing more', () => {
  const { stream, written, take } = slowStream();
  const writer = new DataWriter(stream, () => 10 * 2 ** 20);
  writer.enqueue(new Exchange(1, { kind: 'put', data: new Uint8Array(45 * 2 ** 20) }));
  writer.stop();
  take();
  writer.enqueue({ acknowledge: { req_id: 1 } });
  assert.equal(written.length, 2);
});

test('order holds over thousands of small messages', () => {
  const { stream, written, take } = slowStream();
  const writer = new DataWriter(stream, () => 100);
  for (let id = 1; id <= 5_000; id++) {
    writer.enqueue(new Exchange(id, { kind: 'info' }));
    take();
  }
  assert.deepEqual(
    written.map((message) => message.req_id),
    Array.from({ length: 5_000 }, (_, index) => index + 1),
  );
});
