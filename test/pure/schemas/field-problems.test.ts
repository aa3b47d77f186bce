import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { Type } from 'typebox';
import { createCheck, STRICT_AJV } from '../../../src/schemas/check.ts';
import { toFieldProblems } from '../../../src/schemas/field-problems.ts';

const strict = { additionalProperties: false } as const;
const schema = Type.Object(
  {
    count: Type.Integer({ minimum: 1, maximum: 9 }),
    ratio: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    most: Type.Optional(Type.Number({ maximum: 3 })),
    kind: Type.Optional(Type.Union([Type.Literal('one'), Type.Literal('two')])),
    colour: Type.Optional(Type.Enum(['red', 'green'], { type: 'string' })),
    on: Type.Optional(Type.Boolean()),
    word: Type.Optional(Type.String({ pattern: '^a+$', maxLength: 3, description: 'the letter a' })),
    inner: Type.Optional(Type.Object({ deep: Type.Optional(Type.Integer()) }, strict)),
    list: Type.Optional(Type.Array(Type.Integer())),
    empty: Type.Optional(Type.Object({}, strict)),
    range: Type.Optional(
      Type.Union([
        Type.Array(Type.Integer()),
        Type.Object({ min: Type.Number(), log: Type.Optional(Type.Boolean()) }, strict),
      ]),
    ),
  },
  strict,
);

function problems(input: unknown): Record<string, string> {
  const validate = new Ajv(STRICT_AJV).compile(schema);
  validate(input);
  return Object.fromEntries(
    toFieldProblems(validate.errors ?? [], schema).map((one) => [one.field, one.message]),
  );
}

test('a field problem states the expected and the received value', () => {
  assert.deepEqual(problems({}), { '/count': 'is missing; it must be an integer from 1 to 9' });
  assert.deepEqual(problems({ count: '4', ratio: 0, most: 4, on: 1, list: {}, inner: null }), {
    '/count': 'must be an integer from 1 to 9, but the string "4" came',
    '/ratio': 'must be a number above 0, but 0 came',
    '/most': 'must be a number of at most 3, but 4 came',
    '/on': 'must be true or false, but 1 came',
    '/list': 'must be an array, but an object came',
    '/inner': 'must be an object, but null came',
  });
});

test('a field problem of a union names the keys of its objects and of the received object', () => {
  assert.deepEqual(problems({ count: 1, range: { uniform: [1, 2] } }), {
    '/range': 'must be an array, or an object {min, log?}, but an object {uniform} came',
  });
});

test('a problem of an object of a union is that of the branch with its type, or its type', () => {
  const event = (type: string, rest: object) => Type.Object({ type: Type.Literal(type), ...rest }, strict);
  const value = Type.Union([Type.Number(), Type.Literal('NaN')]);
  const union = Type.Array(Type.Union([event('a', { step: Type.Integer() }), event('b', { value })]));
  const found = createCheck(union)([
    { type: 'a', step: 1 },
    { type: 'a' },
    { type: 'b', value: [] },
    { type: 'c' },
    {},
  ]);
  assert.deepEqual(
    found.map(({ field, message }) => `${field} ${message}`),
    [
      '/1/step is missing; it must be an integer',
      '/2/value must be a number, or "NaN", but an array came',
      '/3/type must be one of "a", "b", but the string "c" came',
      '/4/type is missing; it must be one of "a", "b"',
    ],
  );
});

test('a field problem of a union or enum lists the choices once, with the nearest', () => {
  assert.deepEqual(problems({ count: 1, kind: 'tow', colour: 'blue' }), {
    '/kind': 'must be one of "one", "two", but the string "tow" came; did you mean two?',
    '/colour': 'must be one of "red", "green", but the string "blue" came',
  });
});

test('a field problem of an unknown key names the nearest key, also at another depth', () => {
  assert.deepEqual(problems({ count: 1, cuont: 1, deep: 2, xyzzyplugh: 3, 'a/b': 1, empty: { a: 1 } }), {
    '/cuont': 'is not a known key; did you mean count?',
    '/deep': 'is not a known key here; did you mean /inner/deep?',
    '/xyzzyplugh':
      'is not a known key; known here: count, ratio, most, kind, colour, on, word, inner, list, empty, range',
    '/a~1b':
      'is not a known key; known here: count, ratio, most, kind, colour, on, word, inner, list, empty, range',
    '/empty/a': 'is not a known key; none is known here',
  });
});

test('a field problem of an array or map states its counts and equal values', () => {
  const some = Type.Object({
    few: Type.Optional(Type.Array(Type.Integer(), { minItems: 1, maxItems: 2, uniqueItems: true })),
    keys: Type.Optional(
      Type.Record(Type.String({ pattern: '^[a-c]$' }), Type.Integer(), {
        minProperties: 1,
        maxProperties: 2,
        additionalProperties: false,
        description: 'one letter',
      }),
    ),
  });
  const said = (input: object) => {
    const validate = new Ajv(STRICT_AJV).compile(some);
    validate(input);
    return toFieldProblems(validate.errors ?? [], some).map(({ field, message }) => `${field} ${message}`);
  };
  assert.deepEqual(said({ few: [], keys: {} }), [
    '/few must have at least 1 value, but 0 came',
    '/keys must have at least 1 key, but 0 came',
  ]);
  assert.deepEqual(said({ few: [1, 2, 1] }), [
    '/few must have at most 2 values, but 3 came',
    '/few must have no value twice: those at 0 and 2 are the same',
  ]);
  assert.deepEqual(said({ keys: { a: 1, b: 1, c: 1 } }), ['/keys must have at most 2 keys, but 3 came']);
  assert.deepEqual(said({ keys: { z: 1 } }), ['/keys/z is no key that fits: one letter']);
});

test('a field problem explains a pattern or length and quotes at most a part of the input', () => {
  assert.deepEqual(problems({ count: 1, word: 'b' }), { '/word': '"b" does not fit: the letter a' });
  assert.deepEqual(problems({ count: 1, word: 'aaaa' }), { '/word': 'must have at most 3 characters' });
  assert.ok(JSON.stringify(problems({ count: 'x'.repeat(10_000), ['y'.repeat(10_000)]: 1 })).length < 600);
});

test('an input has at most twenty field problems', () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`unknown${index}`, 1]));
  assert.equal(Object.keys(problems({ count: 1, ...many })).length, 20);
});
