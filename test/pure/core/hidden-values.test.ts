import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createHiddenValues } from '../../../src/core/hidden-values.ts';
import { cpuTimeOf } from '../../support/cpu-time.ts';

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

test('a hidden value with umlauts and quotes is masked as JSON and as percent-encoded by JavaScript and by Python', () => {
  const hidden = createHiddenValues();
  hidden.hide("pä'ss!wörd-9");
  for (const form of [
    "p\\u00e4'ss!w\\u00f6rd-9",
    "p\\\\u00e4'ss!w\\\\u00f6rd-9",
    "p%C3%A4'ss!w%C3%B6rd-9",
    'p%C3%A4%27ss%21w%C3%B6rd-9',
    'p%25c3%25a4%2527ss%2521w%25c3%25b6rd-9',
  ])
    assert.equal(hidden.redact(`before ${form} after`), 'before *** after', form);
});

test('a long text of controls and backslashes is searched in linear time', async () => {
  const hidden = createHiddenValues();
  hidden.hide('a-secret-value');
  for (const part of ['\\', '\\e]', '\u001b]', '\u001b[0', '\\u009d', '\u009d', '\u001bP;']) {
    const text = `${part.repeat(100_000)}m a-secret\u001b(B-value`;
    const ms = await cpuTimeOf(async () => assert.ok(hidden.redact(text).endsWith(' ***'), part));
    // A quadratic search takes minutes.
    assert.ok(ms < 20_000, `${part}: ${ms}`);
  }
});

test('what looks like a secret is masked without being known; short and missing values change nothing', () => {
  const hidden = createHiddenValues();
  for (const value of ['', 'short', null, undefined]) hidden.hide(value);
  assert.equal(hidden.redact('a short line'), 'a short line');
  assert.equal(hidden.redact(`hf_${'aB3'.repeat(10)}`), '***');
});
