import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { STRICT_AJV } from '../../../src/schemas/check.ts';
import { Variables } from '../../../src/schemas/variables.ts';

const isValid = new Ajv(STRICT_AJV).compile(Variables);

test('variables are names with texts of one line, 64 at most', () => {
  assert.ok(isValid({ HF_HOME: '/shared/hf', _x1: '', a: 'ä = "b"' }));
  for (const bad of [{ '1A': 'x' }, { 'A-B': 'x' }, { '': 'x' }, { A: 'x\ny' }, { A: 'x\u0000' }, { A: 1 }])
    assert.ok(!isValid(bad), JSON.stringify(bad));
  assert.ok(!isValid({ A: 'x'.repeat(4097) }));
  assert.ok(!isValid(Object.fromEntries(Array.from({ length: 65 }, (_one, at) => [`A${at}`, 'x']))));
});
