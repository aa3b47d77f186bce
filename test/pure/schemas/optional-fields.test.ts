import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { createCheck } from '../../../src/schemas/check.ts';
import { choice, count, flag, number, positive, section } from '../../../src/schemas/optional-fields.ts';

const check = createCheck(
  section({
    choice: choice(['a', 'b']),
    flag: flag(),
    count: count(1, 3),
    number: number(0, 1),
    positive: positive(1),
    inner: section({ text: Type.String() }),
  }),
);
const fields = (input: object) => check(input).map(({ field }) => field);

test('every field of a section may be omitted', () => {
  assert.deepEqual(fields({}), []);
});

test('a section refuses values outside of the limits, and fields that it does not name', () => {
  assert.deepEqual(
    fields({ choice: 'a', flag: true, count: 3, number: 0, positive: 0.1, inner: { text: 'x' } }),
    [],
  );
  const outside = {
    choice: 'c',
    flag: 1,
    count: 1.5,
    number: 1.1,
    positive: 0,
    inner: { text: 'x', more: 1 },
  };
  assert.deepEqual(
    fields(outside),
    Object.keys(outside).map((key) => (key === 'inner' ? '/inner/more' : `/${key}`)),
  );
});
