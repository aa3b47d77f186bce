import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parquetRows, readParquetHead } from '../../../src/format/dumps/parquet.ts';
import { withSource } from '../../../src/format/dumps/source.ts';
import { BatchFormatError } from '../../../src/format/format-error.ts';
import { folder } from '../../support/dump-files.ts';
import { type Page, parquetFile, parquetOfLists } from '../../support/parquet-bytes.ts';

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
