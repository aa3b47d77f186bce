import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { foldersOfRun } from '../../src/dumps/run-folders.ts';
import { folder } from '../support/dump-files.ts';

async function foldersBeside(others: readonly string[], dump = 'run/step_3.jsonl', own?: string) {
  await using dir = await folder();
  for (const file of [dump, ...others]) {
    await mkdir(join(dir.path, file, '..'), { recursive: true });
    await dir.write(file, '');
  }
  return foldersOfRun(join(dir.path, dump), own).map((found) => found.slice(dir.path.length));
}

test('the folder above a dump counts if no other dump lies in it or beside', async () => {
  const both = ['/run', ''];
  assert.deepEqual(await foldersBeside([]), both);
  assert.deepEqual(await foldersBeside(['config.yaml', 'logs/run.log', 'run/step_4.jsonl']), both);
  assert.deepEqual(await foldersBeside(['step_12.jsonl']), ['/run']);
  assert.deepEqual(await foldersBeside(['other/step_12.jsonl']), ['/run']);
});

test('the folder above counts in any case if the trainer made the folder of the dump', async () => {
  const others = ['backup/1.parquet'];
  const trained = await foldersBeside(others, 'completions/1.parquet', 'completions');
  assert.deepEqual(trained, ['/completions', '']);
  assert.deepEqual(await foldersBeside(others, 'copied/1.parquet', 'completions'), ['/copied']);
});

test('the folder above the working directory is found', () => {
  assert.deepEqual(foldersOfRun('step_1.jsonl'), ['.', './..']);
});
