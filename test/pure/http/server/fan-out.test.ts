import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createFanOut, type Frame, type Source } from '../../../../src/http/server/fan-out.ts';

interface Entry {
  id: string;
  text: string;
}

/** A stream in memory that counts its reads and followers. */
function streamOf(initial: number) {
  const entries: Entry[] = [];
  const listeners = new Set<() => void>();
  const counts = { followers: 0, follows: 0, reads: 0, encoded: 0 };
  let over = false;
  const tellAll = () => {
    for (const listener of [...listeners]) listener();
  };
  const add = (count = 1, text = 'x') => {
    for (let more = 0; more < count; more++) entries.push({ id: String(entries.length + 1), text });
    tellAll();
  };
  add(initial);
  const source: Source<Entry> = {
    newest: async () => entries.at(-1)?.id,
    async read(after, limit) {
      counts.reads++;
      const from = Number(after ?? 0);
      return entries.slice(from, from + limit);
    },
    async *follow(after, signal) {
      counts.follows++;
      counts.followers++;
      const ring = Promise.withResolvers<void>();
      let wake = ring.resolve;
      const listener = () => wake();
      listeners.add(listener);
      signal.addEventListener('abort', listener);
      try {
        for (let at = Number(after ?? 0); !signal.aborted; ) {
          if (at < entries.length) yield entries[at++]!;
          else if (over) return;
          else {
            const next = Promise.withResolvers<void>();
            wake = next.resolve;
            await next.promise;
          }
        }
      } finally {
        counts.followers--;
        listeners.delete(listener);
      }
    },
  };
  const fanOut = createFanOut<Entry>({
    compare: (a, b) => Number(a) - Number(b),
    encode: ({ id, text }) => {
      counts.encoded++;
      return `${id} ${text}\n`;
    },
    bufferBytes: 1000,
  });
  const client = (after: string | undefined, signal = new AbortController().signal) =>
    fanOut.frames('s', { source, after, signal });
  const finish = () => {
    over = true;
    tellAll();
  };
  return { entries, add, finish, counts, fanOut, source, client };
}

/** The numbers of the entries in the frames, in order. */
const numbers = (frames: Frame[]) =>
  frames.flatMap(({ id, bytes }) => {
    const ids = bytes.toString().trimEnd().split('\n').map(Number.parseFloat);
    assert.equal(ids.at(-1), Number(id), 'the id of a frame is that of its last entry');
    return ids;
  });
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

describe('createFanOut', () => {
  test('every client of a fan-out gets each entry after its cursor once, from one shared reader', async () => {
    const { add, finish, counts, client } = streamOf(300);
    const places = [undefined, '0', '1', '150', '299', '300'];
    const all = [...places, ...places].map((place) => Array.fromAsync(client(place)));
    for (let round = 0; round < 50; round++) {
      add(3);
      await turn();
    }
    finish();
    for (const [index, frames] of (await Promise.all(all)).entries()) {
      assert.deepEqual(numbers(frames), range(Number(places[index % places.length] ?? 0) + 1, 451));
    }
    // Fails if each client follows the source itself.
    assert.equal(counts.follows, 1);
  });

  // Fails if it is cut from Node's pool, of which it would keep 64 kB.
  test('a retained frame keeps no memory but its own', async () => {
    const { add, client } = streamOf(0);
    const frames = client(undefined);
    const first = frames.next();
    await turn();
    add(1, 'ü');
    const { bytes } = (await first).value!;
    assert.equal(bytes.toString(), '1 ü\n');
    assert.equal(bytes.buffer.byteLength, bytes.length);
    await frames.return();
  });

  test('a fan-out encodes a new entry once for all clients', async () => {
    const { add, finish, counts, client } = streamOf(0);
    const clients = range(0, 200).map(() => Array.fromAsync(client(undefined)));
    await turn();
    for (let round = 0; round < 20; round++) {
      add();
      await turn();
    }
    finish();
    const received = await Promise.all(clients);
    assert.ok(received.every((frames) => frames.length === 20));
    assert.ok(received.every((frames) => frames[5]?.bytes === received[0]?.[5]?.bytes));
    assert.deepEqual(counts, { followers: 0, follows: 1, reads: 0, encoded: 20 });
  });

  test('a client slower than the shared buffer reads the rest from the store and misses no entry', async () => {
    const { add, finish, counts, client } = streamOf(0);
    const slow = client(undefined);
    const first = slow.next();
    await turn();
    add();
    assert.equal((await first).value?.id, '1');
    add(500, 'x'.repeat(50));
    while (counts.encoded < 501) await turn();
    const rest = Array.fromAsync(slow);
    finish();
    assert.deepEqual(numbers(await rest), range(2, 502));
    assert.ok(counts.reads > 0);
  });

  // Fails if each entry is a frame and a write of its own, or if a page of any size is one frame.
  test('a client that is late gets its missing entries in few frames of bounded length', async () => {
    const { finish, client } = streamOf(640);
    const short = client('0');
    const frames = [(await short.next()).value as Frame];
    finish();
    frames.push(...(await Array.fromAsync(short)));
    assert.deepEqual(numbers(frames), range(1, 641));
    assert.ok(frames.length <= 10, `${frames.length} frames`);

    const { add: addLong, finish: finishLong, client: longClient } = streamOf(0);
    addLong(100, 'x'.repeat(10_000));
    const long = Array.fromAsync(longClient('0'));
    finishLong();
    assert.deepEqual(numbers(await long), range(1, 101));
    for (const { bytes } of await long) assert.ok(bytes.length < 64 * 1024 + 10_010, `${bytes.length} bytes`);
    assert.ok((await long).length < 30, `${(await long).length} frames`);
  });

  test('clients that resume at one cursor at the same time share one read of the store', async () => {
    const { counts, client, finish } = streamOf(300);
    const clients = range(0, 500).map(() => Array.fromAsync(client('200')));
    finish();
    for (const frames of await Promise.all(clients)) assert.deepEqual(numbers(frames), range(201, 301));
    // Two pages. Fails if each client reads the source itself.
    assert.ok(counts.reads < 20, `${counts.reads} reads`);
  });

  test('a client that leaves a fan-out wakes no other client', async () => {
    const { counts, fanOut, source, add, finish } = streamOf(0);
    let compared = 0;
    const { signal } = new AbortController();
    const stops = range(0, 300).map(() => new AbortController());
    const counting = (own: AbortSignal) =>
      new Proxy(own, {
        get(target, name) {
          if (name === 'aborted') compared++;
          const member: unknown = Reflect.get(target, name);
          return typeof member === 'function' ? member.bind(target) : member;
        },
      });
    const clients = stops.map((stop) =>
      Array.fromAsync(fanOut.frames('s', { source, after: undefined, signal: counting(stop.signal) })),
    );
    const stays = Array.fromAsync(fanOut.frames('s', { source, after: undefined, signal }));
    while (counts.followers === 0) await turn();
    for (let turns = 0; turns < 10; turns++) await turn();
    compared = 0;
    for (const stop of stops) {
      stop.abort();
      await turn();
    }
    await Promise.all(clients);
    // Each client checks its own signal once more. Fails if all clients check when one leaves: 45,000 checks.
    assert.ok(compared <= 3 * stops.length, `${compared} looks`);
    assert.equal(fanOut.readers, 1);
    add();
    finish();
    assert.deepEqual(numbers(await stays), [1]);
  });

  test('a fan-out stops reading when its last client leaves', async () => {
    const { counts, fanOut, client, add } = streamOf(1);
    const stops = [new AbortController(), new AbortController()];
    const clients = stops.map(({ signal }) => Array.fromAsync(client('0', signal)));
    while (counts.followers === 0) await turn();
    stops[0]!.abort();
    await clients[0];
    assert.equal(fanOut.readers, 1);
    stops[1]!.abort();
    await clients[1];
    assert.equal(fanOut.readers, 0);
    while (counts.followers > 0) await turn();
    const again = client('1');
    const next = again.next();
    while (counts.followers === 0) await turn();
    add();
    assert.equal((await next).value?.id, '2');
    await again.return();
    assert.equal(counts.follows, 2);
  });

  test('a failed source rejects every client, and the next client reads it again', async () => {
    const { fanOut } = streamOf(0);
    let fails = true;
    const source: Source<Entry> = {
      newest: async () => undefined,
      read: async () => [],
      async *follow() {
        if (fails) throw new Error('lost');
        yield { id: '1', text: '' };
      },
    };
    const { signal } = new AbortController();
    const clients = range(0, 3).map(() =>
      Array.fromAsync(fanOut.frames('f', { source, after: undefined, signal })),
    );
    for (const outcome of await Promise.allSettled(clients)) assert.equal(outcome.status, 'rejected');
    fails = false;
    const frames = await Array.fromAsync(fanOut.frames('f', { source, after: undefined, signal }));
    assert.deepEqual(numbers(frames), [1]);
  });
});
