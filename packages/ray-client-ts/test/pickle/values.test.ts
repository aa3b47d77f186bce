import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PyDict, PyGlobal, PyTuple } from '../../src/pickle/values.ts';

test('the later of two equal keys wins', () => {
  const dict = new PyDict();
  dict.entries.push(['a', 1], ['a', 2]);
  assert.equal(dict.get('a'), 2);
  assert.equal(dict.get('b'), undefined);
});

test('a global prints as Python writes it', () => {
  assert.equal(String(new PyGlobal('os.path', 'join')), 'os.path.join');
});

test('a tuple keeps its items', () => {
  assert.deepEqual(new PyTuple(1, 'a').items, [1, 'a']);
});
