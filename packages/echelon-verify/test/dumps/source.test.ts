import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { openSource, withSource } from '../../src/dumps/source.ts';
import { folder } from '../support/dump-files.ts';

test('a source gives parts of a file, and fewer bytes at its end', async () => {
  await using dir = await folder();
  const path = await dir.write('a.txt', 'hello');
  const parts = await withSource(path, async (source) => [
    source.byteLength,
    Buffer.from(await source.slice(1, 3)).toString(),
    Buffer.from(await source.slice(3, 99)).toString(),
    (await source.slice(9)).byteLength,
  ]);
  assert.deepEqual(parts, [5, 'el', 'lo', 0]);
});

test('a source gives parts of what gzip holds', async () => {
  await using dir = await folder();
  const path = await dir.write('a.txt.gz', gzipSync('hello'));
  const parts = await withSource(path, async (source) => [
    source.byteLength,
    Buffer.from(await source.slice(1, 3)).toString(),
    Buffer.from(await source.slice(3, 99)).toString(),
    (await source.slice(9)).byteLength,
  ]);
  assert.deepEqual(parts, [5, 'el', 'lo', 0]);
});

test('a folder is refused, and a file that is not there is a system error', async () => {
  await using dir = await folder();
  await assert.rejects(openSource(dir.path), /expected a file, found a directory/);
  await assert.rejects(openSource(`${dir.path}/none`), { code: 'ENOENT' });
});
