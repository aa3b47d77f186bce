import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { appFor } from '../../../support/http-app.ts';
import { wholeOperations } from '../../../support/openapi.ts';

const { call } = await appFor({ after });

interface Operation {
  operationId?: string;
  summary?: string;
  tags?: string[];
  security?: object[];
  parameters?: { name: string; in: string; schema: Record<string, unknown> }[];
  responses: Record<
    string,
    { description?: string; content?: Record<string, { schema?: Record<string, unknown> }> }
  >;
}
const document = (await call('GET', '/openapi.json')).json();
const { paths } = wholeOperations(document) as { paths: Record<string, Record<string, Operation>> };
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

describe('the OpenAPI document', () => {
  test('the OpenAPI document is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(document));
    assert.deepEqual(result.errors ?? [], []);
    assert.ok(result.valid);
    assert.equal(document.openapi, '3.1.0');
  });

  test('every operation has a unique id, a summary, one tag, its security and its error responses', () => {
    const ids = operations.map(({ operation }) => operation.operationId ?? '');
    assert.equal(new Set(ids).size, operations.length);
    for (const id of ids) assert.match(id, /^[a-z][A-Za-z]+$/);
    const tags = new Set((document.tags as { name: string }[]).map(({ name }) => name));
    for (const { method, path, operation } of operations) {
      assert.ok(operation.summary && operation.tags?.length === 1 && tags.has(operation.tags[0]!), path);
      if (!path.startsWith('/v1/')) continue;
      for (const status of ['400', '401', '403', '429', '500', '503'])
        assert.ok(operation.responses[status], path);
      // The server checks both before it knows whether the route takes a body.
      const refusals = ['415', ...(method === 'get' ? [] : ['413'])];
      for (const status of refusals) assert.ok(operation.responses[status], `${method} ${path} ${status}`);
      assert.ok(operation.security === undefined || operation.security.length > 0, path);
    }
  });

  test('every response with a body has a schema, and every parameter a type', () => {
    for (const { method, path, operation } of operations) {
      const place = `${method} ${path}`;
      for (const [status, answer] of Object.entries(operation.responses)) {
        for (const { schema } of Object.values(answer.content ?? {})) {
          assert.ok(Object.keys(schema ?? {}).length > 0, `${place} ${status}`);
        }
        assert.ok(answer.content || ['204', '303', '304'].includes(status), `${place} ${status}`);
        assert.ok(answer.description && answer.description !== 'Default Response', `${place} ${status}`);
      }
      for (const { name, in: where, schema } of operation.parameters ?? []) {
        assert.ok(schema.type || schema.anyOf || schema.enum || schema.$ref, `${place} ${name}`);
        if (where === 'path') assert.ok(path.includes(`{${name}}`), `${place} ${name}`);
      }
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const name of inPath)
        assert.ok(
          operation.parameters?.some((one) => one.name === name),
          place,
        );
    }
  });

  test('every list that takes a cursor also takes a limit and returns the next cursor', () => {
    let lists = 0;
    for (const { path, operation } of operations) {
      if (!operation.parameters?.some(({ name }) => name === 'cursor')) continue;
      lists += 1;
      const { $ref } = operation.responses['200']!.content!['application/json']!.schema as { $ref: string };
      const { properties } = document.components.schemas[$ref.split('/').at(-1)!];
      assert.deepEqual(
        [properties.next.type, operation.parameters.some(({ name }) => name === 'limit')],
        [['string', 'null'], true],
        path,
      );
      assert.ok(operation.responses['400']!.description!.includes('invalid-cursor'), path);
    }
    assert.ok(lists > 5);
  });

  test('every POST documents the header Idempotency-Key', () => {
    for (const { method, path, operation } of operations) {
      if (!path.startsWith('/v1/')) continue;
      if (method === 'post') {
        assert.ok(
          operation.parameters?.some(({ name }) => name === 'idempotency-key'),
          path,
        );
      }
    }
  });

  test('a nullable value is a list of types, and a choice of objects has a discriminator', () => {
    const visit = (part: unknown, place: string): void => {
      if (typeof part !== 'object' || part === null) return;
      const schema = part as { anyOf?: object[]; oneOf?: object[]; discriminator?: { mapping: object } };
      const [first, second] = schema.anyOf ?? [];
      if (schema.anyOf?.length === 2 && (second as { type?: string }).type === 'null') {
        assert.ok(!('type' in first!) || 'const' in first, place);
      }
      if (schema.oneOf)
        assert.equal(Object.keys(schema.discriminator!.mapping).length, schema.oneOf.length, place);
      for (const [name, inner] of Object.entries(part)) visit(inner, `${place}/${name}`);
    };
    visit(document.components.schemas, '');
    visit(document.paths, '');
  });

  test('the OpenAPI document states the size limits', () => {
    assert.match(document.info.description, /256 kB for a body and 16 kB for headers/);
    assert.ok(!document.info.description.includes('undefined'));
  });

  test('every reference in the OpenAPI document resolves', () => {
    const text = JSON.stringify(document);
    const references = [
      ...text.matchAll(/"\$ref":"#\/components\/(schemas|headers|parameters|responses)\/([^"]+)"/g),
    ];
    assert.ok(references.length > 50);
    for (const [, kind, name] of references)
      assert.ok(Object.hasOwn(document.components[kind!], name!), name);
    assert.equal([...text.matchAll(/"\$ref":"/g)].length, references.length);
  });
});

test('the page at /docs loads only files of this server', async () => {
  const page = await call('GET', '/docs/');
  assert.equal(page.statusCode, 200);
  const addresses = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address!);
  assert.ok(addresses.length > 3);
  for (const address of addresses) {
    assert.ok(!/^(?:https?:)?\/\//.test(address), address);
    const url = new URL(address, 'http://echelon.test/docs/').pathname;
    assert.equal((await call('GET', url)).statusCode, 200, url);
  }
  assert.ok(!/<script>[^<]/.test(page.body));
  const initializer = await call('GET', '/docs/static/swagger-initializer.js');
  assert.match(initializer.body, /validatorUrl['"]?: ?null/);
  assert.equal((await call('GET', '/docs/json')).statusCode, 200);
});
