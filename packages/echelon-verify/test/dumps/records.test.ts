import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pickedLines, recordsOf } from '../../src/dumps/records.ts';
import { withSource } from '../../src/dumps/source.ts';
import { DUMPS, folder } from '../support/dump-files.ts';

async function records(content: string, columns: string[]): Promise<unknown[]> {
  await using dir = await folder();
  const path = await dir.write('table', content);
  return await withSource(path, (source) => Array.fromAsync(recordsOf(source, columns)));
}

test('CSV gives numbers and texts, an empty cell nothing', async () => {
  const rows = await records('\ufeffgroup,"reward, x",n\n"a ""b""\nc",1.5,nan\n,,3\n', [
    'group',
    'reward, x',
    'n',
    'none',
  ]);
  assert.deepEqual(rows, [
    { group: 'a "b"\nc', 'reward, x': 1.5, n: Number.NaN, none: undefined },
    { group: undefined, 'reward, x': undefined, n: 3, none: undefined },
  ]);
});

test('JSON lines give columns, also inside objects', async () => {
  const rows = await records('{"a": {"b": 1, "c": 2}, "d": NaN}\n{"a": 5}\n', ['a.b', 'd']);
  assert.deepEqual(rows, [
    { 'a.b': 1, d: Number.NaN },
    { 'a.b': undefined, d: undefined },
  ]);
});

test('parquet gives the columns that are there', async () => {
  const path = `${DUMPS}/trl/group/completions/completions_00001.parquet`;
  const rows = await withSource(path, (source) => Array.fromAsync(recordsOf(source, ['step', 'none'])));
  assert.deepEqual([rows.length, rows[0]], [16, { step: 1n }]);
});

test('a bad line is named, and so is bad CSV', async () => {
  await assert.rejects(records('{"a": 1}\n{"a": \n', ['a']), /field line 2: expected JSON/);
  await assert.rejects(records('a,b\n1,2,3\n', ['a']), /expected CSV/);
  await assert.rejects(records('a,b,a\n1,2,3\n', ['a']), /one column of each name, found two columns "a"/);
  await using dir = await folder();
  const path = await dir.write('x', '{"a": [1, {"b": 2, "c": 3}]}');
  const picked = withSource(path, (source) => Array.fromAsync(pickedLines(source, { a: { b: true } })));
  assert.deepEqual(await picked, [{ a: [1, { b: 2 }] }]);
});
