import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { ADAPTERS, adapterFor, adapterOf } from '../../src/dumps/registry.ts';
import { DUMPS, folder } from '../support/dump-files.ts';

async function nameFor(name: string, content: string | Uint8Array): Promise<string | undefined> {
  await using dir = await folder();
  const found = await adapterFor(await dir.write(name, content));
  return typeof found === 'object' ? found.name : found;
}

test('the content decides the format, whatever the file is called', async () => {
  assert.equal(
    await nameFor('x', '{"input": "a", "output": "b", "gts": null, "score": 1, "step": 1, "uid": "a_0_0"}'),
    'verl',
  );
  assert.equal(await nameFor('x', 'group,reward\n1,2\n'), 'table');
  assert.equal(await nameFor('x', '"group", "reward"\r\n1,2\n'), 'table');
  assert.equal(await nameFor('x', '{"group": 1, "reward": 2}'), 'table');
  assert.equal(await nameFor('x', '{\n "format": "echelon-batch/1"'), 'native');
  assert.equal(await nameFor('x.json', '{"batches": []}'), 'native');
  for (const other of ['', 'text', '{', '{"a": 1}', '[1]', 'a,b\n1,2\n', '\u0000,group,reward'])
    assert.equal(await nameFor('x', other), undefined, other);
  const trl = await adapterFor(`${DUMPS}/trl/group/completions/completions_00001.parquet`);
  assert.equal(typeof trl === 'object' && trl.name, 'trl');
  assert.equal(await adapterFor('test/golden/hgpo.json'), 'native');
  assert.equal(await adapterFor('test/golden/real-alfworld.json.gz'), 'native');
});

test('gzip is read by what it holds, and damaged gzip is refused', async () => {
  const verl = '{"input": "a", "output": "b", "gts": null, "score": 1, "step": 1, "uid": "a_0_0"}\n';
  assert.equal(await nameFor('1.jsonl.gz', gzipSync(verl)), 'verl');
  assert.equal(await nameFor('x', gzipSync('group,reward\n1,2\n')), 'table');
  assert.equal(await nameFor('x', gzipSync('{"format": "echelon-batch/1"')), 'native');
  assert.equal(await nameFor('x', gzipSync('text')), undefined);
  await assert.rejects(
    nameFor('x', gzipSync(verl).subarray(0, 40)),
    /expected a complete gzip file, found unexpected end of file/,
  );
});

test('names are unique, and a near miss is answered with the name', () => {
  const names = ADAPTERS.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  assert.equal(adapterOf('trl').name, 'trl');
  assert.throws(() => adapterOf('verll'), /did you mean verl\?/);
  assert.throws(() => adapterOf('something'), /the formats are trl, ms-swift/);
});
