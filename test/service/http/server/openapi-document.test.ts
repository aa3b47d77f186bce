import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { appFor } from '../../../support/http-app.ts';
import { storeFor } from '../../../support/store.ts';

test('every example body of the OpenAPI document is accepted unchanged', async () => {
  const { store } = await storeFor({ after });
  const { app, call } = await appFor({ after }, { store, settings: { mailDomains: ['example.com'] } });
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
