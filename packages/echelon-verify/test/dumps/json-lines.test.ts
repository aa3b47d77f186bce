import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linesOf } from '../../src/dumps/json-lines.ts';
import { withSource } from '../../src/dumps/source.ts';
import { folder } from '../support/dump-files.ts';

async function lines(content: string, maxBytes?: number): Promise<[number, string][]> {
  await using dir = await folder();
  const path = await dir.write('a.jsonl', content);
  return await withSource(path, async (source) => {
    const found: [number, string][] = [];
    for await (const { number, bytes } of linesOf(source, maxBytes))
      found.push([number, Buffer.from(bytes).toString()]);
    return found;
  });
}

test('lines keep their numbers, and blank lines are ignored', async () => {
  assert.deepEqual(await lines('a\n\n \r\nb'), [
    [1, 'a'],
    [4, 'b'],
  ]);
  assert.deepEqual(await lines(''), []);
});

test('a line longer than one read is whole', async () => {
  const long = 'x'.repeat(2 ** 20 + 5);
  assert.deepEqual(await lines(`${long}\ny\n`), [
    [1, long],
    [2, 'y'],
  ]);
});

test('a line above the limit is refused with its number', async () => {
  await assert.rejects(lines(`a\n${'x'.repeat(100)}`, 50), /line 2: expected lines of at most 50 bytes/);
});
