import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createHiddenValues } from '../../../src/core/hidden-values.ts';

test('hidden values show in no common form', () => {
  const hidden = createHiddenValues();
  const value = 'a"token/of+ours=7';
  const base64 = Buffer.from(value).toString('base64');
  hidden.hide(value);
  for (const form of [value, JSON.stringify(value), encodeURIComponent(value), base64]) {
    const shown = hidden.redact(`{"msg":"before ${form} after"}`);
    assert.ok(shown.includes('***') && !shown.includes(form), shown);
  }
});

const GOLDEN = JSON.parse(readFileSync('test/golden/vectors/redaction.json', 'utf8')) as {
  secret: string;
  hidden: { form: string; text: string }[];
  shown: string[];
};

test('a hidden value is masked in every form that the ray-worker masks, and other text stays', () => {
  const hidden = createHiddenValues();
  hidden.hide(GOLDEN.secret);
  for (const { form, text } of GOLDEN.hidden) {
    const shown = hidden.redact(`before ${text} after`);
    assert.ok(shown.startsWith('before ') && shown.endsWith(' after') && shown.includes('***'), form);
    // What base64 and base32 leave at the edges belongs to the neighbours.
    assert.ok(shown.length < 'before *** after'.length + 40 && !shown.includes(text.slice(8, 16)), form);
  }
  for (const text of GOLDEN.shown) assert.equal(hidden.redact(text), text);
});

test('what looks like a secret is masked without being known; short and missing values change nothing', () => {
  const hidden = createHiddenValues();
  for (const value of ['', 'short', null, undefined]) hidden.hide(value);
  assert.equal(hidden.redact('a short line'), 'a short line');
  assert.equal(hidden.redact(`hf_${'aB3'.repeat(10)}`), '***');
});
