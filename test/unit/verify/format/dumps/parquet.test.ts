import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isParquet, parquetRows, readParquetHead } from '../../../../../src/verify/format/dumps/parquet.ts';
import { withSource } from '../../../../../src/verify/format/dumps/source.ts';
import type { BatchFormatError } from '../../../../../src/verify/format/format-error.ts';
import { DUMPS, folder } from '../../../../support/dump-files.ts';

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
