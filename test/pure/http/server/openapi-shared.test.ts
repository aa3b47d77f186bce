import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareRepeated } from '../../../../src/http/server/openapi-document.ts';

const busy = { description: '`store-full`: The store is full; `store-away`: It does not answer' };
const known = { description: 'It is the answer that is known' };
const id = { in: 'path', name: 'id', description: "The experiment's id" };

test('a response or parameter of two operations is written once and referenced', () => {
  const operation = () => ({
    parameters: [{ ...id }],
    responses: { 200: {}, 304: { ...known }, 503: { ...busy } },
  });
  const document = { paths: { '/a/{id}': { get: operation() }, '/b/{id}': { get: operation() } } };
  shareRepeated(document);
  const shared = {
    parameters: [{ $ref: '#/components/parameters/PathId' }],
    responses: {
      200: {},
      304: { $ref: '#/components/responses/NotModified' },
      503: { $ref: '#/components/responses/StoreFullOrStoreAway' },
    },
  };
  assert.deepEqual(document, {
    paths: { '/a/{id}': { get: shared }, '/b/{id}': { get: shared } },
    components: { parameters: { PathId: id }, responses: { NotModified: known, StoreFullOrStoreAway: busy } },
  });
});

test('of two parameters with one name only the more frequent is shared, and a parameter that occurs once stays inline', () => {
  const other = { ...id, description: "The sweep's id" };
  const parameters = [[id], [other], [id], [other], [id], [{ ...id, name: 'only' }]];
  const document = {
    paths: { '/a': Object.fromEntries(parameters.map((one, index) => [index, { parameters: one }])) },
  };
  shareRepeated(document);
  const shared = { $ref: '#/components/parameters/PathId' };
  assert.deepEqual(
    Object.values(document.paths['/a']).map((operation) => operation.parameters[0]),
    [shared, other, shared, other, shared, { ...id, name: 'only' }],
  );
});
