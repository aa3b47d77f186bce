import assert from 'node:assert/strict';
import { test } from 'node:test';
import { valueInWords } from '../../../src/plan/sweep-names.ts';

test('valueInWords names an object by its name and its other fields, and any other value as JSON', () => {
  const cases: [unknown, string][] = [
    ['grpo', 'grpo'],
    [3, '3'],
    [null, 'null'],
    [[1, 2], '[1,2]'],
    [{ b: 1, a: 'x' }, '{"a":"x","b":1}'],
    [{ name: 7 }, '{"name":7}'],
    [{ mode: 'mean_norm', name: 'hgpo', historyLength: 2 }, 'hgpo historyLength=2 mode=mean_norm'],
  ];
  for (const [value, words] of cases) assert.equal(valueInWords(value), words);
});
