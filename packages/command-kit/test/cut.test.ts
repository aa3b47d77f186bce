import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cut, MAX_SHOWN_CHARACTERS } from '../src/cut.ts';

test('a text up to the limit stays as it is, a longer one is cut and says its length', () => {
  assert.equal(cut('g'.repeat(MAX_SHOWN_CHARACTERS)), 'g'.repeat(MAX_SHOWN_CHARACTERS));
  assert.equal(cut('g'.repeat(3_000_000)), `${'g'.repeat(MAX_SHOWN_CHARACTERS)}… (3,000,000 characters)`);
  assert.equal(cut('abc', 2), 'ab… (3 characters)');
});

test('a cut leaves no half of a character', () => {
  assert.equal(cut('a😀b', 2), 'a… (4 characters)');
});
