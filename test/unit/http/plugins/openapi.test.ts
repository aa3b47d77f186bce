import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { appFor } from '../../../support/http-app.ts';

const { app, call } = await appFor({ after });

interface Operation {
  operationId?: string;
  summary?: string;
  tags?: string[];
  security?: object[];
  responses: Record<string, unknown>;
}
const document = (await call('GET', '/openapi.json', { token: null })).json();
const operations = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(
  ([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(document));
    assert.deepEqual(result.errors ?? [], []);
    assert.ok(result.valid);
    assert.equal(document.openapi, '3.1.0');
  });

  test('has every route of the API, and nothing hidden', () => {
    const described = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort();
    assert.deepEqual(described, [
      'DELETE /v1/clusters/{name}',
      'GET /healthz',
      'GET /readyz',
      'GET /v1/clusters',
      'GET /v1/clusters/{name}',
      'GET /v1/commands/{id}',
      'GET /v1/experiments',
      'GET /v1/experiments/{id}',
      'GET /v1/experiments/{id}/attempts',
      'GET /v1/experiments/{id}/events',
      'GET /v1/experiments/{id}/explain',
      'GET /v1/experiments/{id}/logs',
      'GET /v1/experiments/{id}/metrics',
      'GET /v1/experiments/{id}/verification',
      'GET /v1/queues',
      'GET /v1/sweeps',
      'GET /v1/sweeps/{id}',
      'GET /v1/sweeps/{id}/comparison',
      'POST /login',
      'POST /logout',
      'POST /v1/clusters',
      'POST /v1/clusters/{name}/drain',
      'POST /v1/experiments',
      'POST /v1/experiments/{id}/cancel',
      'POST /v1/plans',
      'POST /v1/sweeps',
      'POST /v1/sweeps/preview',
      'POST /v1/sweeps/{id}/cancel',
      'POST /v1/sweeps/{id}/rerun-failed',
    ]);
  });

  test('names each operation once, with a summary, a tag and its errors', () => {
    assert.equal(new Set(operations.map(({ operation }) => operation.operationId)).size, operations.length);
    for (const { path, operation } of operations) {
      assert.ok(operation.summary && operation.tags?.length === 1, path);
      if (path.startsWith('/v1/')) {
        for (const status of ['400', '401', '429', '500', '503'])
          assert.ok(operation.responses[status], path);
      }
    }
  });

  test('states the limits', () => {
    assert.match(document.info.description, /a body of 256 kB, headers of 16 kB/);
    assert.ok(!document.info.description.includes('undefined'));
  });

  test('refers to nothing that is not there', () => {
    const text = JSON.stringify(document);
    const references = [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(
      ([, name]) => name!,
    );
    assert.ok(references.length > 50);
    for (const name of references) assert.ok(Object.hasOwn(document.components.schemas, name), name);
    assert.equal([...text.matchAll(/"\$ref":"(?!#\/components\/schemas\/)/g)].length, 0);
  });
});

test('the page at /docs comes from this server alone', async () => {
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

test('the front page leads to it', async () => {
  assert.equal((await call('GET', '/')).headers.location, '/docs');
  assert.ok(app.swagger().info.version);
});
