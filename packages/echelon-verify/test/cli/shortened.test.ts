import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shortened } from '../../src/cli/shortened.ts';

test('a text that fits stays as it is', () => {
  for (const text of ['', 'hgpo', 'x'.repeat(9)]) assert.equal(shortened(text, 9), text);
});

test('a longer text loses its middle and keeps the full width', () => {
  assert.equal(shortened('estimator=hgpo, seed=1', 11), 'estim…eed=1');
  assert.equal(shortened('estimator=hgpo, seed=2', 10), 'estim…ed=2');
  assert.equal(shortened('abcd', 3), 'a…d');
});

test('no character is cut in two', () => {
  assert.equal(shortened('😀😀😀😀😀', 3), '😀…😀');
});
