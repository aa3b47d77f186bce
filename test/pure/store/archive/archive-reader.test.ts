import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Archive } from '../../../../src/store/archive/archive.ts';
import { createArchiveReader } from '../../../../src/store/archive/archive-reader.ts';
import { packSegment, type RawEntry } from '../../../../src/store/archive/archive-segments.ts';
import { packSeries, unpackSeries } from '../../../../src/store/archive/series-archive.ts';

const entry = (number: number): RawEntry => ({
  id: `1-${number}`,
  fields: ['t', 'batch', 'a', '1', 'd', '{}', 'b', `bytes ${number}`].map((field) => Buffer.from(field)),
});

/** Twelve entries in segments of three. */
const example = () => archived([1, 4, 7, 10].map((n) => [n, n + 1, n + 2].map(entry)));

/** Segments with these entries, and how often each object was read. */
async function archived(groups: readonly RawEntry[][]) {
  const objects = new Map<string, Uint8Array>();
  const reads = new Map<string, number>();
  const packed = await Promise.all(groups.map(packSegment));
  for (const { digest, bytes } of packed.flatMap((one) => one.objects)) objects.set(digest, bytes);
  const archive = {
    async get(_owner: string, digest: string) {
      reads.set(digest, (reads.get(digest) ?? 0) + 1);
      return objects.get(digest)!;
    },
  } as Archive;
  return {
    segments: packed.map(({ segment }) => segment),
    reader: createArchiveReader(archive),
    reads,
    objects,
  };
}

const ids = (entries: readonly RawEntry[]) => entries.map(({ id }) => Number(id.slice(2)));
const span = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_v, at) => from + at);

test('reads any piece, forwards and backwards, over the ends of segments', async () => {
  const { reader, segments } = await example();
  for (let from = 0; from <= 12; from++) {
    for (let limit = 0; limit <= 13; limit++) {
      const after = from === 0 ? undefined : `1-${from}`;
      const want = span(from + 1, Math.min(12, from + limit));
      const read = await reader.forwards('exp-a', segments, after, limit);
      assert.deepEqual([ids(read.entries), read.more], [want, from + limit < 12]);
      const end = from === 0 ? 12 : from - 1;
      assert.deepEqual(
        ids(await reader.backwards('exp-a', segments, { before: after, limit })),
        span(Math.max(1, end + 1 - limit), end),
      );
    }
  }
});

test('puts the bytes back into their entries', async () => {
  const { reader, segments } = await example();
  const found: RawEntry[] = [];
  for await (const one of reader.between('exp-a', segments, '1-3', '1-8')) found.push(one);
  assert.deepEqual(found, [3, 4, 5, 6, 7, 8].map(entry));
});

test('those who read a segment at the same time, or again, share one reading; a failed one is tried anew', async () => {
  const { reader, segments, reads, objects } = await example();
  const [first] = segments;
  await Promise.all([1, 2, 3].map(() => reader.forwards('exp-a', [first!], undefined, 1)));
  assert.equal(reads.get(first!.entries.digest), 1);
  const digest = segments[1]!.entries.digest;
  const bytes = objects.get(digest)!;
  objects.set(digest, Buffer.from('damaged'));
  await assert.rejects(reader.forwards('exp-a', segments, '1-3', 1));
  objects.set(digest, bytes);
  assert.deepEqual(ids((await reader.forwards('exp-a', segments, '1-3', 1)).entries), [4]);
});

/* Fails if the bound counts bytes of the archive: these segments take 80 MB of memory and some kB of archive. */
test('segments that compress well leave the cache by the memory that they take', async () => {
  const line = Buffer.alloc(4 * 1024 * 1024, 'the same line again ');
  const groups = Array.from({ length: 20 }, (_v, at) => [{ id: `${at + 1}-1`, fields: [line] }]);
  const { reader, segments, reads } = await archived(groups);
  assert.ok(segments.reduce((sum, { entries }) => sum + entries.bytes, 0) < 100_000);
  const read = async (at: number) => {
    await reader.forwards('exp-a', [segments[at]!], undefined, 1);
    return reads.get(segments[at]!.entries.digest);
  };
  for (let at = 0; at < segments.length; at++) assert.equal(await read(at), 1);
  assert.equal(await read(19), 1, 'the newest one is still there');
  assert.equal(await read(0), 2, 'the oldest one has left');
});

/* Fails if they are pieces of the buffer of the decompression: a segment of 1 kB then takes 128 kB. */
test('the entries of a small segment keep no more memory than their bytes', async () => {
  const { reader, segments } = await example();
  const { entries } = await reader.forwards('exp-a', [segments[0]!], undefined, 9);
  const memory = new Set(entries.flatMap(({ fields }) => fields.map(({ buffer }) => buffer)));
  assert.ok([...memory].reduce((sum, { byteLength }) => sum + byteLength, 0) < 1_000);
});

test('a small series keeps no more memory than its bytes', async () => {
  const fields = await unpackSeries(await packSeries(new Map([['loss', Buffer.from('values')]])));
  assert.equal(fields.get('loss')?.toString(), 'values');
  assert.ok(fields.get('loss')!.buffer.byteLength < 100);
});
