import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareSpecs, rowsOf } from '../../src/models/spec.ts';

test('fields are listed by path, and those below a default are defaults', () => {
  const rows = rowsOf({ name: 'x', resources: { gpus: 0 }, labels: {}, rules: [1] }, new Set(['/resources']));
  assert.deepEqual(
    rows.map(({ field, value, isDefault }) => [field, value, isDefault]),
    [
      ['name', 'x', false],
      ['resources.gpus', '0', true],
      ['labels', '{}', false],
      ['rules', '[1]', false],
    ],
  );
});

test('a difference names the field and both values', () => {
  assert.deepEqual(compareSpecs({ a: { b: 1 }, same: 2 }, { a: { b: 2 }, same: 2, c: true }), [
    { field: 'a.b', a: '1', b: '2' },
    { field: 'c', a: undefined, b: 'true' },
  ]);
});
