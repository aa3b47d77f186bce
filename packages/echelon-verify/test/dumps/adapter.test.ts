import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mappingFromTexts } from '../../src/dumps/adapter.ts';

test('a mapping names the column of each meaning, and a column may contain an equals sign', () => {
  assert.deepEqual(mappingFromTexts(['group=prompt', 'reward=a=b']), { group: 'prompt', reward: 'a=b' });
});

test('a mapping of an unknown meaning, or without a column, is refused with the known meanings', () => {
  for (const text of ['colour=x', 'group', 'group=', '=x', '__proto__=x'])
    assert.throws(() => mappingFromTexts([text]), /the meanings are group, reward, advantage/);
});
