import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { strict } from '../../../src/schemas/strict.ts';

test('a strict object accepts the properties it names and no others', () => {
  const schema = Type.Object({ a: Type.Optional(Type.Number()) }, strict);
  assert.deepEqual(
    [{}, { a: 1 }, { b: 1 }].map((value) => Value.Check(schema, value)),
    [true, true, false],
  );
});
