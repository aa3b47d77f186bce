import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import Fastify from 'fastify';
import type { App } from '../../../../src/http/server/deps.ts';
import { addValidation } from '../../../../src/http/server/validation.ts';
import { appFor, LOCAL, NO_STORE } from '../../../support/http-app.ts';

const { call } = await appFor({ after });

test('a value of the wrong type is refused with its field and never converted', async () => {
  for (const value of [null, true, '4', 4.5, [4], {}]) {
    const body = { ...LOCAL, estimator: { name: 'hgpo', historyLength: value } };
    const response = await call('POST', '/v1/plans', { body });
    assert.equal(response.statusCode, 400);
    assert.equal(response.json().code, 'invalid-spec');
    assert.deepEqual(
      response.json().problems.map(({ field }: { field: string }) => field),
      ['/estimator/historyLength'],
    );
  }
});

test('validation adds and drops no field', async () => {
  const response = await call('POST', '/v1/plans', { body: { ...LOCAL, extra: undefined, more: 1 } });
  assert.deepEqual(response.json().problems[0].field, '/more');
});

test('a bad or unknown query parameter is refused with its name', async () => {
  const response = await call('GET', '/v1/experiments?limit=abc&offset=1&constructor=1');
  assert.equal(response.statusCode, 400);
  assert.deepEqual(
    response.json().problems.map(({ field }: { field: string }) => field),
    ['offset', 'constructor', 'limit'],
  );
});

test('the input schemas of all routes compile', async (t) => {
  const { app } = await appFor(t, { store: NO_STORE });
  await app.ready();
  app.compileSchemas();
});

test('a broken input schema of a route throws when it is compiled', async () => {
  const app = Fastify() as unknown as App;
  addValidation(app);
  app.get(
    '/a',
    { schema: { querystring: { type: 'object', properties: { a: { type: 'nonsense' } } } } },
    async () => ({}),
  );
  await app.ready();
  assert.throws(() => app.compileSchemas(), /nonsense|type/);
});
