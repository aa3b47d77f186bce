import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import type { ErrorCode } from '../../../src/core/errors.ts';
import { addOperation, documentSchema, type OpenApi } from '../../../src/http/server/operation.ts';
import { tagged } from '../../../src/schemas/answer-parts.ts';

interface Written {
  parameters: object[];
  responses: Record<string, { $ref: string }>;
}

/** A document with operations, of which each is stated by its path parameters and its errors. */
function documentOf(
  stated: Record<string, { path?: Record<string, object>; errors?: ErrorCode[]; isLimited?: boolean }>,
) {
  const document: OpenApi = {
    paths: {},
    components: { headers: {}, parameters: {}, responses: {}, schemas: {}, securitySchemes: {} },
  };
  for (const [url, { path = {}, errors = [], isLimited = true }] of Object.entries(stated)) {
    addOperation(
      document,
      { method: 'GET', url },
      {
        operationId: 'read',
        summary: 'Read',
        tags: ['experiments'],
        security: [],
        inputs: { path: { properties: path }, query: undefined, header: undefined },
        answers: { 304: { description: 'The record has not changed.' } },
        errors,
        isLimited,
      },
    );
  }
  return document;
}

const id = { type: 'string', description: "The experiment's id" };
const other = { type: 'string', description: "The sweep's id" };

test('an operation has one response for each status, which names its error codes', () => {
  const { paths, components } = documentOf({
    '/a': { errors: ['invalid-spec', 'store-full', 'not-found'] },
    '/healthz': { isLimited: false },
  });
  const { responses } = paths['/a']!.get as Written;
  const errorsOf = (answers: object) => Object.keys(answers).filter((status) => status >= '400');
  assert.deepEqual(errorsOf(responses), ['400', '401', '403', '404', '415', '429', '431', '500', '503']);
  assert.deepEqual(errorsOf((paths['/healthz']!.get as Written).responses), ['400', '415', '431', '500']);
  const described = (status: string) =>
    (components.responses[responses[status]!.$ref.split('/').at(-1)!] as { description: string }).description;
  assert.match(described('400'), /`invalid-request`.*`invalid-spec`/);
  assert.match(described('503'), /`store-unavailable`.*`record-too-new`.*`store-full`/);
});

test('a response or parameter of two operations is written once and referenced', () => {
  const { paths, components } = documentOf({
    '/a/:id': { path: { id }, errors: ['not-found'] },
    '/b/:id': { path: { id }, errors: ['not-found'] },
  });
  for (const path of ['/a/{id}', '/b/{id}']) {
    const { parameters, responses } = paths[path]!.get as Written;
    assert.deepEqual(parameters, [{ $ref: '#/components/parameters/PathId' }]);
    assert.deepEqual(responses['304'], { $ref: '#/components/responses/NotModified' });
    assert.deepEqual(responses['404'], { $ref: '#/components/responses/NotFound' });
  }
  assert.deepEqual(components.parameters, {
    PathId: {
      schema: { type: 'string' },
      in: 'path',
      name: 'id',
      required: true,
      description: "The experiment's id",
    },
  });
  assert.deepEqual(components.responses.NotModified, { description: 'The record has not changed.' });
});

test('of two parameters with one name only the first is shared, and the other stays inline', () => {
  const { paths, components } = documentOf({
    '/a/:id': { path: { id } },
    '/b/:id': { path: { id: other } },
    '/c/:id': { path: { id } },
  });
  const [first, second, third] = Object.values(paths).map(({ get }) => (get as Written).parameters[0]);
  assert.deepEqual([first, third], Array(2).fill({ $ref: '#/components/parameters/PathId' }));
  assert.equal((second as { description: string }).description, other.description);
  assert.equal(Object.keys(components.parameters).length, 1);
});

test('a choice of objects refers to their named schemas, with a discriminator', () => {
  const one = <T extends string>(type: T, $id: string) => Type.Object({ type: Type.Literal(type) }, { $id });
  const written = tagged<ReturnType<typeof one<string>>>('SomeEvent', [
    one('log', 'LogEvent'),
    one('rule', 'RuleEvent'),
  ]);
  const document = documentOf({});
  documentSchema(document, written);
  const mapping = { log: '#/components/schemas/LogEvent', rule: '#/components/schemas/RuleEvent' };
  const object = (type: string) => ({
    type: 'object',
    required: ['type'],
    properties: { type: { type: 'string', enum: [type] } },
  });
  assert.deepEqual(document.components.schemas, {
    SomeEvent: {
      oneOf: [{ $ref: mapping.log }, { $ref: mapping.rule }],
      discriminator: { propertyName: 'type', mapping },
    },
    LogEvent: object('log'),
    RuleEvent: object('rule'),
  });
});
