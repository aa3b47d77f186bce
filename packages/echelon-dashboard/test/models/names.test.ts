import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withNames } from '../../src/models/names.ts';

test('ids of known experiments become their names, and unknown ids stay', () => {
  const [known, unknown] = ['exp-00cz8h3k7n2q4r5s6t7v', 'exp-00cz8h3k7n2q4r5s6t7w'];
  const text = `would delay ${known}, which is next; ${unknown} waits`;
  assert.equal(withNames(text, new Map([[known, 'a']])), `would delay a, which is next; ${unknown} waits`);
});
