import assert from 'node:assert/strict';
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

test('what looks like a secret is masked without being known; short and missing values change nothing', () => {
  const hidden = createHiddenValues();
  for (const value of ['', 'short', null, undefined]) hidden.hide(value);
  assert.equal(hidden.redact('a short line'), 'a short line');
  assert.equal(hidden.redact(`hf_${'aB3'.repeat(10)}`), '***');
});
