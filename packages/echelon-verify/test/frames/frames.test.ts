import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { framed, payloadsOf } from '../../src/frames/frames.ts';

async function* inParts(bytes: Uint8Array, lengths: readonly number[]): AsyncGenerator<Uint8Array> {
  let [at, turn] = [0, 0];
  while (at < bytes.length) {
    const end = at + (lengths[turn++ % lengths.length] ?? 1);
    yield bytes.subarray(at, end);
    at = end;
  }
}

test('payloads arrive whole and in order however their stream is cut into parts', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 }),
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 5 }),
      async (payloads, lengths) => {
        const stream = Buffer.concat(payloads.map(framed));
        const read = [];
        for await (const payload of payloadsOf(inParts(stream, lengths))) read.push([...payload]);
        assert.deepEqual(
          read,
          payloads.map((payload) => [...payload]),
        );
      },
    ),
  );
});

test('an incomplete frame at the end of a stream is ignored', async () => {
  const stream = framed(Uint8Array.of(1, 2, 3)).subarray(0, 6);
  const read = [];
  for await (const payload of payloadsOf(inParts(stream, [6]))) read.push(payload);
  assert.deepEqual(read, []);
});
