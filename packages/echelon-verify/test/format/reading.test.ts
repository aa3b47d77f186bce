import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBounded } from '../../src/cli/read-bounded.ts';
import { openPacked } from '../../src/dumps/source.ts';
import { lastRead, onReading } from '../../src/format/reading.ts';
import { folder } from '../support/dump-files.ts';

test('each file is named before it is opened, also one that is absent', async () => {
  await using at = await folder();
  const paths = [await at.write('a.jsonl', '{}'), await at.write('b.json', '{}')] as const;
  const named: (string | undefined)[] = [];
  onReading((path) => named.push(path));
  await (await openPacked(paths[0]))[Symbol.asyncDispose]();
  await readBounded(paths[1]);
  await assert.rejects(openPacked('absent'));
  assert.deepEqual(named, [...paths, 'absent']);
  assert.equal(lastRead(), 'absent');
});
