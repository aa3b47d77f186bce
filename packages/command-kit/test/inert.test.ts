import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inert, inertText } from '../src/inert.ts';

test('foreign text cannot steer the terminal', () => {
  assert.equal(inert('a\u001b[31mb\u202ec\rd\u0000'), 'a\\u001b[31mb\\u202ec\\u000dd\\u0000');
  // Nor hide in it: no width, another line, tags.
  assert.equal(inert('a\u200bb\u2028c\ufeffd\u{e0041}'), 'a\\u200bb\\u2028c\\ufeffd\\u{e0041}');
  assert.equal(inert('👩\u200d🔬'), '👩\u200d🔬');
  assert.equal(inert('tab\tand\nline, ümlaut, 字'), 'tab\tand\\u000aline, ümlaut, 字');
  assert.equal(inertText('tab\tand\nline\r'), 'tab\tand\nline\\u000d');
});
