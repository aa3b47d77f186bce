import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { finishDocument } from '../../../../src/http/server/openapi-document.ts';
import { appFor } from '../../../support/http-app.ts';
import { storeFor } from '../../../support/store.ts';

const schemaOf = (schema: object): unknown => {
  const document = { paths: {}, components: { schemas: { X: structuredClone(schema) } } };
  finishDocument(document);
  return document.components.schemas.X;
};
const NULL = { type: 'null' };

describe('a nullable value', () => {
  test('a nullable value of one type has a list of types', () => {
    assert.deepEqual(schemaOf({ anyOf: [{ type: 'integer', minimum: 0 }, NULL], description: 'a' }), {
      ...{ type: ['integer', 'null'], minimum: 0, description: 'a' },
    });
    assert.deepEqual(schemaOf({ anyOf: [{ type: 'string', enum: ['a'], description: 'b' }, NULL] }), {
      ...{ type: ['string', 'null'], enum: ['a', null], description: 'b' },
    });
    assert.deepEqual(
      schemaOf({ type: 'array', items: { anyOf: [{ type: 'object', properties: {} }, NULL] } }),
      {
        type: 'array',
        items: { type: ['object', 'null'], properties: {} },
      },
    );
  });

  test('a choice that is not nullable with one type stays an anyOf', () => {
    for (const anyOf of [
      [{ $ref: '#/x' }, NULL],
      [{ type: 'string' }, { type: 'number' }],
      [{ type: 'string', const: 'a' }, NULL],
      [{ type: 'string' }, { type: 'number' }, NULL],
    ]) {
      assert.deepEqual(schemaOf({ anyOf }), { anyOf });
    }
  });
});

test('a choice of texts becomes one enumeration beside the other alternatives', () => {
  const text = (...values: string[]) => ({ type: 'string', enum: values });
  assert.deepEqual(schemaOf({ anyOf: [text('a'), text('b', 'c')], description: 'd' }), {
    ...{ type: 'string', enum: ['a', 'b', 'c'], description: 'd' },
  });
  assert.deepEqual(schemaOf({ anyOf: [text('a'), { type: 'number' }, text('b')] }), {
    anyOf: [{ type: 'number' }, text('a', 'b')],
  });
  const told = { anyOf: [{ ...text('a'), description: 'what a is' }, text('b')] };
  assert.deepEqual(schemaOf(told), told);
});

test('objects with a distinct `type` become named schemas with a discriminator', () => {
  const one = (type: string) => ({ type: 'object', properties: { type: { type: 'string', enum: [type] } } });
  const schemas: Record<string, unknown> = { SomeEvent: { anyOf: [one('log'), one('rule')] } };
  finishDocument({ paths: {}, components: { schemas } });
  const mapping = { log: '#/components/schemas/LogEvent', rule: '#/components/schemas/RuleEvent' };
  assert.deepEqual(schemas, {
    SomeEvent: {
      oneOf: [{ $ref: mapping.log }, { $ref: mapping.rule }],
      discriminator: { propertyName: 'type', mapping },
    },
    LogEvent: one('log'),
    RuleEvent: one('rule'),
  });
});

test('every example body of the OpenAPI document is accepted unchanged', async () => {
  const { store } = await storeFor({ after });
  const { app, call } = await appFor({ after }, { store });
  type Body = { content: Record<string, { examples?: Record<string, { value: unknown }> }> };
  const paths = app.swagger().paths as Record<
    string,
    Record<string, { operationId: string; requestBody?: Body }>
  >;
  const shown: string[] = [];
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { requestBody }] of Object.entries(methods)) {
      const examples = requestBody?.content['application/json']?.examples ?? {};
      for (const [name, { value }] of Object.entries(examples)) {
        shown.push(`${path} ${name}`);
        const response = await call(method.toUpperCase(), path.replace('{id}', 'exp-00000000000000000000'), {
          body: value,
        });
        assert.ok(
          path.includes('{id}') ? response.statusCode === 404 : response.statusCode < 300,
          response.body,
        );
      }
    }
  }
  assert.ok(shown.length >= 6, shown.join());
});

test('every rate limit header of the OpenAPI document is sent', async () => {
  const { app, call } = await appFor({ after });
  const answer = await call('GET', '/v1/recipes');
  const paths = app.swagger().paths as Record<
    string,
    Record<string, { responses: Record<string, { headers: object }> }>
  >;
  const { headers } = paths['/v1/recipes']!.get!.responses['200']!;
  for (const name of Object.keys(headers)) assert.ok(answer.headers[name.toLowerCase()] !== undefined, name);
  assert.equal(Object.keys(headers).length, 3);
});
