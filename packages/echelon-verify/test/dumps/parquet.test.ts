import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { isParquet, parquetRows, readParquetHead } from '../../src/dumps/parquet.ts';
import { withSource } from '../../src/dumps/source.ts';
import type { BatchFormatError } from '../../src/format/format-error.ts';
import { DUMPS, folder } from '../support/dump-files.ts';
import { parquetFile } from '../support/parquet-bytes.ts';

const run = promisify(execFile);

const FILE = `${DUMPS}/trl/group/completions/completions_00001.parquet`;

async function rowsOf(path: string): Promise<Record<string, unknown>[]> {
  return await withSource(path, async (source) => {
    const head = await readParquetHead(source);
    const columns = head.columns.map(({ name }) => name);
    return (await Array.fromAsync(parquetRows(source, head, columns))).flat();
  });
}

test('the head says which columns are numbers, and the rows hold them', async () => {
  assert.ok(isParquet(readFileSync(FILE)));
  const head = await withSource(FILE, readParquetHead);
  assert.equal(head.rows, 16);
  assert.deepEqual(
    head.columns.map(({ name, isNumber }) => [name, isNumber]),
    [
      ['step', true],
      ['prompt', false],
      ['completion', false],
      ['even', true],
      ['advantage', true],
    ],
  );
  const rows = await rowsOf(FILE);
  assert.equal(rows.length, 16);
  assert.equal(typeof rows[0]!.even, 'number');
});

test('a file without its end is truncated, not too large', async () => {
  await using dir = await folder();
  const whole = readFileSync(FILE);
  for (const end of [4, 11, 100, whole.length - 8, whole.length - 1])
    await assert.rejects(
      rowsOf(await dir.write('a.parquet', whole.subarray(0, end))),
      (error: BatchFormatError) =>
        error.code === 'unreadable' &&
        error.message.includes(`truncated after ${end} bytes: it does not end with PAR1`),
    );
});

test('pages in gzip, brotli and zstd are read', async () => {
  await using dir = await folder();
  const numbers = Buffer.from(Float64Array.of(0.5, 1, -2).buffer);
  const packed = { 2: gzipSync(numbers), 4: brotliCompressSync(numbers), 6: zstdCompressSync(numbers) };
  for (const [codec, content] of Object.entries(packed)) {
    const page = { codec: Number(codec), bytes: numbers.length };
    const rows = await rowsOf(await dir.write('a.parquet', parquetFile(content, 3, page)));
    assert.deepEqual(rows, [{ reward: 0.5 }, { reward: 1 }, { reward: -2 }], codec);
  }
});

test('a compression that the runtime lacks is named, with what reads it', async () => {
  await using dir = await folder();
  const script = `
    import zlib from 'node:zlib';
    import { syncBuiltinESMExports } from 'node:module';
    delete zlib.zstdDecompressSync;
    syncBuiltinESMExports();
    const { parquetRows, readParquetHead } = await import('./packages/echelon-verify/src/dumps/parquet.ts');
    const { withSource } = await import('./packages/echelon-verify/src/dumps/source.ts');
    await withSource(process.argv[1], async (source) => {
      for await (const rows of parquetRows(source, await readParquetHead(source), ['reward'])) console.log(rows);
    }).catch((error) => console.log(error.message));`;
  const content = zstdCompressSync(Buffer.from(Float64Array.of(0.5).buffer));
  const file = await dir.write('a.parquet', parquetFile(content, 1, { codec: 6, bytes: 8 }));
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script, file]);
  assert.match(
    stdout,
    /expected a parquet file that can be unpacked here, found zstd, which `echelon verify` reads with Node 22\.15/,
  );
});

test('a file of other content between the marks of parquet is called damaged', async () => {
  await using dir = await folder();
  const foreign = Buffer.concat([
    Buffer.from('PAR1'),
    Buffer.alloc(40, 0x15),
    Buffer.from([40, 0, 0, 0]),
    Buffer.from('PAR1'),
  ]);
  await assert.rejects(
    rowsOf(await dir.write('a.parquet', foreign)),
    /expected a complete parquet file, found a part that ends early or is damaged/,
  );
});
