import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { nullable, oneOf } from '../../../src/schemas/answer-parts.ts';

const json = (schema: object): unknown => JSON.parse(JSON.stringify(schema));

test('a nullable value of one type has a list of types', () => {
  assert.deepEqual(json(nullable(Type.Integer({ minimum: 0 }), { description: 'a' })), {
    ...{ type: ['integer', 'null'], minimum: 0, description: 'a' },
  });
  assert.deepEqual(json(nullable(Type.Enum(['a'], { type: 'string', description: 'b' }))), {
    ...{ type: ['string', 'null'], enum: ['a', null], description: 'b' },
  });
  assert.deepEqual(json(nullable(Type.Object({}))), { type: ['object', 'null'], properties: {} });
});

test('a nullable value without one type of its own is a choice', () => {
  for (const schema of [
    Type.Unsafe<unknown>({ $ref: '#/x' }),
    Type.Union([Type.String(), Type.Number()]),
    Type.Literal('a'),
  ]) {
    assert.deepEqual(json(nullable(schema)), { anyOf: [json(schema), { type: 'null' }] });
  }
});

test('a choice of texts is one enumeration', () => {
  assert.deepEqual(json(oneOf(['a', 'b', 'c'], { description: 'd' })), {
    ...{ type: 'string', enum: ['a', 'b', 'c'], description: 'd' },
  });
});
