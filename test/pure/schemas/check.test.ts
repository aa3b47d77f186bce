import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Type } from 'typebox';
import { createCheck } from '../../../src/schemas/check.ts';

const strict = { additionalProperties: false } as const;
const check = createCheck(
  Type.Object(
    {
      items: Type.Optional(Type.Array(Type.Object({ id: Type.Integer() }, strict))),
      few: Type.Optional(Type.Array(Type.Integer(), { maxItems: 30 })),
      map: Type.Optional(
        Type.Record(Type.String({ pattern: '^[a-z]+$' }), Type.Integer(), { ...strict, maxProperties: 2 }),
      ),
      last: Type.Integer(),
    },
    strict,
  ),
);

describe('the check of an input', () => {
  test('the check finds no problem in a valid input', () => {
    assert.deepEqual(check({ items: Array.from({ length: 100 }, (_, id) => ({ id })), last: 1 }), []);
  });

  test('the check finds all problems of an ordinary input', () => {
    const fields = check({ items: [{ id: 'a' }, {}, { id: 1, more: 1 }], map: { a: 1, b: 'x' } }).map(
      ({ field }) => field,
    );
    assert.deepEqual(fields, ['/last', '/items/0/id', '/items/1/id', '/items/2/more', '/map/b']);
  });

  test('the check finds a bad member after many valid members', () => {
    const items = Array.from({ length: 1000 }, (_, id) => ({ id: id === 700 ? 'x' : id }));
    assert.deepEqual(
      check({ items, last: 1 }).map(({ field }) => field),
      ['/items/700/id'],
    );
  });

  test('the check reports no known field as missing after many unknown fields', () => {
    const junk = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`junk${at}`, 1]));
    const found = check({ ...junk, last: 1 });
    assert.equal(found.length, 20);
    assert.ok(
      found.every(({ message }) => message.startsWith('is not a known key')),
      JSON.stringify(found),
    );
  });

  test('a problem counts all keys of the input, not only the checked ones', () => {
    const map = Object.fromEntries(Array.from({ length: 90 }, (_, at) => ['a'.repeat(at + 1), 1]));
    assert.deepEqual(check({ map, last: 'x' }), [
      { field: '/map', message: 'must have at most 2 keys, but 90 came' },
      { field: '/last', message: 'must be an integer, but the string "x" came' },
    ]);
    const few = Array.from({ length: 77 }, (_, at) => at);
    assert.deepEqual(check({ few, last: 1 }), [
      { field: '/few', message: 'must have at most 30 values, but 77 came' },
    ]);
  });
});
