import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { internTexts } from '../../../src/kernel/index.ts';

function columnOf(texts: readonly Uint8Array[], lead = 0): { bytes: Uint8Array; offsets: Uint32Array } {
  const offsets = new Uint32Array(texts.length + 1);
  texts.forEach((text, at) => {
    offsets[at + 1] = offsets[at]! + text.length;
  });
  const backing = new Uint8Array(lead + offsets[texts.length]!);
  const bytes = backing.subarray(lead);
  texts.forEach((text, at) => {
    bytes.set(text, offsets[at]!);
  });
  return { bytes, offsets };
}

/** Ids by first appearance, by text keys. */
function expectedIds(texts: readonly Uint8Array[]): number[] {
  const idOf = new Map<string, number>();
  return texts.map((text) => {
    const key = Buffer.from(text).toString('hex');
    if (!idOf.has(key)) idOf.set(key, idOf.size);
    return idOf.get(key)!;
  });
}

const text = fc.oneof(
  fc.uint8Array({ maxLength: 5 }),
  fc.constantFrom(...[0, 15, 16, 95, 96, 97, 300].map((length) => new Uint8Array(length).fill(7))),
  // Long texts that differ in one byte.
  fc.nat({ max: 299 }).map((at) => new Uint8Array(300).fill(7).fill(8, at, at + 1)),
);

describe('internTexts', () => {
  test('gives equal texts equal ids by first appearance, at any alignment', () => {
    fc.assert(
      fc.property(
        fc.array(text, { maxLength: 60 }),
        fc.nat({ max: 7 }),
        fc.integer(),
        (texts, lead, seed) => {
          const { ids, count, first } = internTexts(columnOf(texts, lead), seed);
          const expected = expectedIds(texts);
          assert.deepEqual(Array.from(ids), expected);
          assert.equal(count, new Set(expected).size);
          assert.deepEqual(
            Array.from(first),
            Array.from({ length: count }, (_, id) => expected.indexOf(id)),
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  test('keeps thousands of texts apart while its table grows', () => {
    const texts = Array.from({ length: 20_000 }, (_, at) => Buffer.from(`state ${at % 15_000}`));
    const { ids, count } = internTexts(columnOf(texts));
    assert.equal(count, 15_000);
    assert.ok(ids.every((id, at) => id === at % 15_000));
  });

  test('texts that all collide are still told apart', () => {
    // With the seed known, texts of one hash can be picked out; ten thousand of them would be ten million steps.
    const texts = collidingTexts(3000, 1);
    const { ids, count } = internTexts(columnOf(texts), 1);
    assert.equal(count, 3000);
    assert.ok(ids.every((id, at) => id === at));
  });

  test('offsets that descend or leave the bytes are refused', () => {
    const bytes = new Uint8Array(4);
    assert.throws(
      () => internTexts({ bytes, offsets: Uint32Array.of(0, 3, 2) }),
      /offset 2 is 2, not in 3..4/,
    );
    assert.throws(() => internTexts({ bytes, offsets: Uint32Array.of(0, 5) }), RangeError);
    // Never touched, so it takes no memory.
    assert.throws(
      () => internTexts({ bytes: new Uint8Array(2 ** 31), offsets: Uint32Array.of(0, 1) }),
      /at a time/,
    );
    assert.equal(internTexts({ bytes, offsets: new Uint32Array(0) }).count, 0);
    assert.equal(internTexts({ bytes, offsets: new Uint32Array(1) }).count, 0);
  });
});

/** Texts of 32 bytes whose second block undoes in each lane what the first one changed. */
function collidingTexts(count: number, seed: number): Uint8Array[] {
  const P = 0x9e3779b1 | 0;
  const start = (seed ^ 32) | 0;
  const turn = (lane: number) => (lane << 13) | (lane >>> 19);
  return Array.from({ length: count }, (_, at) => {
    const bytes = Buffer.alloc(32);
    bytes.writeInt32LE(at, 0);
    // Lane a after the first block is known, so the word that brings it to 0 is that lane itself.
    bytes.writeInt32LE(turn(Math.imul(start ^ at, P)), 16);
    return bytes;
  });
}
