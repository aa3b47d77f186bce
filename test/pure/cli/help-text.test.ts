import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrappedHelp } from '../../../src/cli/program.ts';

test('prose is broken at words, with its indentation', () => {
  assert.equal(wrappedHelp('  one two three four', 12), '  one two\n  three four');
  assert.equal(wrappedHelp('short\n\nlines', 5), 'short\n\nlines');
});

test('a command stays one command for a shell, and quoted words stay whole', () => {
  assert.equal(
    wrappedHelp('  echelon queue pause --reason "until 6 pm" vision', 30),
    '  echelon queue pause \\\n      --reason "until 6 pm" \\\n      vision',
  );
  assert.equal(wrappedHelp('  echelon verify x        # the same', 30), '  echelon verify x  # the same');
});
