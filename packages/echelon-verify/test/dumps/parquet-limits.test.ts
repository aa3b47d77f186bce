import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parquetRows, readParquetHead } from '../../src/dumps/parquet.ts';
import { withSource } from '../../src/dumps/source.ts';
import { BatchFormatError } from '../../src/format/format-error.ts';
import { folder } from '../support/dump-files.ts';
import { type Page, parquetFile, parquetOfLists, varint } from '../support/parquet-bytes.ts';

const NUMBERS = Buffer.from(new Float64Array([1, 0, 0.5]).buffer);

async function rowsOf(bytes: Buffer): Promise<unknown[]> {
  await using dir = await folder();
  return await withSource(await dir.write('a.parquet', bytes), async (source) => {
    const head = await readParquetHead(source);
    return (await Array.fromAsync(parquetRows(source, head, ['reward']))).flat();
  });
}

test('a page that holds what its header states is read', async () => {
  assert.deepEqual(await rowsOf(parquetFile(NUMBERS, 3)), [{ reward: 1 }, { reward: 0 }, { reward: 0.5 }]);
});

test('a page that states too much is refused before it is decoded', async () => {
  const pages: [Page, RegExp][] = [
    [{ values: 2 ** 23 + 1 }, /8388609 values in a row group/],
    [{ bytes: 2 ** 28 + 1 }, /268435457 bytes in a row group/],
    [{ compressedBytes: -40 }, /-40 bytes/],
    [{ bytes: 2 ** 24 + 1, isDictionary: true }, /16777217 bytes of a dictionary/],
    [{ encoding: 7 }, /DELTA_BYTE_ARRAY/],
  ];
  for (const [page, message] of pages) {
    await assert.rejects(rowsOf(parquetFile(NUMBERS, 3, page)), (error: unknown) => {
      assert.ok(error instanceof BatchFormatError && error.code === 'too-large');
      return message.test(error.message);
    });
  }
});

test('lists in a footer that state more entries than it has bytes are refused', async () => {
  await assert.rejects(rowsOf(parquetOfLists(1)), /lists of 32000000 entries in a header/);
});

test('a footer longer than the file is refused', async () => {
  const bytes = parquetFile(NUMBERS, 3);
  bytes.writeUInt32LE(bytes.length, bytes.length - 8);
  await assert.rejects(rowsOf(bytes), /a footer of \d+ bytes/);
});

test('a page whose lengths would make the decoder read the same bytes for ever is refused', async () => {
  const run = varint(0xf0000001);
  const cases: Record<string, [Buffer, Page, RegExp]> = {
    'packed values, less than none of them': [
      Buffer.concat([Buffer.from([0]), run]),
      { encoding: 8, isSecond: true },
      /a run of \d+ values, 3 are left/,
    ],
    'more equal values than the page has': [
      Buffer.concat([Buffer.from([1]), varint(2 ** 31 - 2), Buffer.from([1])]),
      { encoding: 8 },
      /a run of 1073741823 values, 3 are left/,
    ],
    'blocks of differences that end before they begin': [
      Buffer.concat([varint(128), varint(0xffffffff), varint(3), Buffer.alloc(8)]),
      { encoding: 5, type: 1 },
      /blocks of 128 differences in -1 parts/,
    ],
    'a literal of Snappy that ends at its start': [
      Buffer.from([24, 63 << 2, 0xfa, 0xff, 0xff, 0xff, 0, 0]),
      { codec: 1, bytes: 24 },
      /a literal of 4294967291 bytes/,
    ],
  };
  for (const [what, [content, page, message]] of Object.entries(cases))
    await assert.rejects(rowsOf(parquetFile(content, 3, page)), (error: unknown) => {
      assert.ok(error instanceof BatchFormatError && error.code === 'unreadable', what);
      return assert.match(error.message, message, what) === undefined;
    });
});

test('row groups that have other rows than the file, or are too many, are refused', async () => {
  const twice = await rowsOf(parquetFile(NUMBERS, 3, { groups: 2 }));
  assert.equal(twice.length, 6);
  await assert.rejects(rowsOf(parquetFile(NUMBERS, 3, { groups: 2 ** 16 + 1 })), /65537 row groups/);
  const bytes = parquetFile(NUMBERS, 3, { groups: 2 });
  // The number of rows of the file, which stands in the footer as 12 in the protocol's zigzag.
  bytes[bytes.indexOf(Buffer.from([6, 6, 12])) + 2] = 14;
  await assert.rejects(rowsOf(bytes), /6 rows in its row groups, 7 are stated/);
});
