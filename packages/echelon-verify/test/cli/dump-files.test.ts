import assert from 'node:assert/strict';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { sourcesOf } from '../../src/cli/dump-files.ts';
import { adapterOf } from '../../src/dumps/registry.ts';
import { DUMPS, folder } from '../support/dump-files.ts';

test('a folder gives its dumps in natural order, and names what it skips', async () => {
  await using dir = await folder();
  const line = (step: number) => `{"input": "", "output": "", "score": 1, "step": ${step}, "uid": "a_0_0"}`;
  for (const step of [10, 9]) await dir.write(`${step}.jsonl`, line(step));
  await dir.write('config.json', '{}');
  await dir.write('model.safetensors', 'x');
  await mkdir(join(dir.path, 'checkpoint-2'));
  await dir.write('checkpoint-2/optimizer.pt', 'the states of an optimizer');
  await cp('test/golden/hgpo.json', join(dir.path, 'native.json'));
  const { sources, skipped } = await sourcesOf([dir.path]);
  const at = (name: string) => join(dir.path, name);
  assert.deepEqual(sources, [
    { file: at('native.json') },
    { adapter: adapterOf('verl'), files: [at('9.jsonl'), at('10.jsonl')] },
  ]);
  assert.deepEqual(skipped, [at('config.json')]);
});

test('files of one trainer are one run, and a forced format reads all', async () => {
  const files = [1, 2].map((step) => `${DUMPS}/trl/group/completions/completions_0000${step}.parquet`);
  assert.deepEqual((await sourcesOf(files)).sources, [{ adapter: adapterOf('trl'), files }]);
  const table = adapterOf('table');
  assert.deepEqual((await sourcesOf(files, table)).sources, [{ adapter: table, files }]);
});

test('a file that is not there or in no known format is left to the reader of the own format', async () => {
  await using dir = await folder();
  const other = await dir.write('other', 'text');
  assert.deepEqual((await sourcesOf(['none', other])).sources, [{ file: 'none' }, { file: other }]);
});
