import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  compareIds,
  hasBytes,
  packSegment,
  type RawEntry,
  readSegments,
  sizeOf,
  unpackEntries,
  unpackParts,
  writeSegments,
} from '../../../../src/store/archive/archive-segments.ts';
import { coded } from '../../../support/store.ts';

const buffers = (...fields: (string | Buffer)[]) => fields.map((field) => Buffer.from(field as string));
const every = Buffer.from(Array.from({ length: 256 }, (_v, at) => at));
const entries: RawEntry[] = [
  { id: '0-1', fields: buffers('t', 'state', 'a', '17', 'd', '{"é":"\\u0000"}') },
  { id: '1-1048576', fields: buffers('t', 'batch', 'a', '18', 'd', '{}', 'b', every) },
  { id: '1-1048577', fields: buffers('t', 'verification', 'a', '19', 'd', '{}') },
  { id: '1-2097152', fields: buffers('t', 'batch', 'a', '20', 'd', '{}', 'k', 'f'.repeat(64)) },
  { id: '1-3145728', fields: buffers('t', 'batch', 'a', '21', 'd', '{}', 'b', '') },
];

describe('segments', () => {
  test('entries come back as they were, their bytes from an object of their own', async () => {
    const { segment, objects } = await packSegment(entries);
    assert.deepEqual([segment.first, segment.last, segment.count], ['0-1', '1-3145728', 5]);
    const found = await unpackEntries(objects[0]!.bytes);
    const parts = await unpackParts(objects[1]!.bytes);
    assert.deepEqual(parts, [every, Buffer.alloc(0)]);
    assert.deepEqual(
      found.map((entry) => ({
        id: entry.id,
        fields: hasBytes(entry) ? [...entry.fields.slice(0, 7), parts.shift()] : entry.fields,
      })),
      entries,
    );
    assert.equal(objects[0]!.bytes.byteLength, segment.entries.bytes);
  });

  test('the same entries always make the same objects', async () => {
    const [one, two] = [await packSegment(entries), await packSegment(entries)];
    assert.deepEqual(one.segment, two.segment);
  });

  test('without bytes there is one object', async () => {
    const { segment, objects } = await packSegment([entries[0]!]);
    assert.deepEqual([segment.parts, objects.length], [null, 1]);
  });

  test('the index reads as it was written', async () => {
    const { segment } = await packSegment(entries);
    const bare = { ...segment, parts: null };
    assert.deepEqual(readSegments(writeSegments([segment, bare])), [segment, bare]);
    for (const nothing of ['', null, undefined]) assert.deepEqual(readSegments(nothing), []);
  });

  test('an object of another format is refused in words', async () => {
    const { objects } = await packSegment(entries);
    await assert.rejects(unpackEntries(objects[1]!.bytes), coded('internal'));
    await assert.rejects(unpackParts(Buffer.from('')), coded('internal'));
  });
});

test('ids are in the order of Redis, also beyond what a number holds', () => {
  const ordered = ['0-1', '1-0', '1-9', '1-10', '1-18446744073709551614', '1-18446744073709551615', '10-1'];
  for (const [at, id] of ordered.entries()) {
    for (const [other, with_] of ordered.entries()) {
      assert.equal(Math.sign(compareIds(id, with_)), Math.sign(at - other), `${id} ${with_}`);
    }
  }
});

test('the size of an entry counts its fields and its id', () => {
  assert.equal(sizeOf({ id: '0-1', fields: buffers('ab', 'c') }), 8 + 3 + 4 + 2 + 4 + 1);
});
