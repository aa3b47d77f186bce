import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examples } from '../src/examples.ts';

test('examples are indented under a title in the right number', () => {
  assert.equal(examples('echelon a'), '\nExample:\n  echelon a');
  assert.equal(examples('echelon a', 'echelon b'), '\nExamples:\n  echelon a\n  echelon b');
});
