import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { etagOf } from '../../../../src/http/plugins/etag.ts';
import { appFor, REPLAY } from '../../../support/http-app.ts';
import { storeFor } from '../../../support/store.ts';

const { store } = await storeFor({ after });
const { app, call } = await appFor({ after }, { store });
const { id } = (await call('POST', '/v1/experiments', { body: REPLAY })).json();
const path = `/v1/experiments/${id}`;

describe('a record', () => {
  test('has a strong ETag that changes with it', async () => {
    const first = await call('GET', path);
    const etag = String(first.headers.etag);
    assert.match(etag, /^"[\w-]{27}"$/);
    assert.equal(etag, etagOf(first.body));
    assert.equal((await call('GET', path)).headers.etag, etag);
    assert.equal((await call('HEAD', path)).headers.etag, etag);
    await call('POST', `${path}/cancel`);
    assert.notEqual((await call('GET', path)).headers.etag, etag);
  });

  test('that is known is not sent again', async () => {
    const etag = String((await call('GET', path)).headers.etag);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const answer = await call('GET', path, { headers: { 'if-none-match': known } });
      assert.deepEqual([answer.statusCode, answer.body, answer.headers.etag], [304, '', etag], known);
    }
    for (const known of ['"other"', 'x', '', etag.slice(1)]) {
      const answer = await call('GET', path, { headers: { 'if-none-match': known } });
      assert.equal(answer.statusCode, 200, known);
    }
  });

  // Fails without the look at the present record.
  test('is changed only by who knows it as it is, where that is asked for', async () => {
    const etag = String((await call('GET', path)).headers.etag);
    for (const known of ['"other"', `W/${etag}`, 'x']) {
      const refused = await call('DELETE', path, { headers: { 'if-match': known } });
      assert.deepEqual([refused.statusCode, refused.json().code], [412, 'precondition-failed'], known);
    }
    assert.equal((await call('GET', path)).statusCode, 200);
    const gone = '/v1/experiments/exp-00000000000000000000';
    assert.equal((await call('DELETE', gone, { headers: { 'if-match': '*' } })).statusCode, 404);
    const done = await call('DELETE', path, { headers: { 'if-match': `"other", ${etag}` } });
    assert.equal(done.statusCode, 204, done.body);
    assert.equal((await call('GET', path, { headers: { 'if-none-match': '*' } })).statusCode, 404);
  });
});

test('errors and lists have none', async () => {
  assert.equal((await call('GET', '/v1/experiments/none')).headers.etag, undefined);
  assert.equal((await call('GET', '/v1/experiments')).headers.etag, undefined);
});

test('each change of a record that has an ETag documents If-Match', () => {
  type Operation = { parameters?: { name: string }[]; responses: Record<string, { headers?: object }> };
  const paths = app.swagger().paths as Record<string, Record<string, Operation>>;
  let changes = 0;
  for (const [url, methods] of Object.entries(paths)) {
    if (!methods.get?.responses['304']) continue;
    assert.ok(Object.hasOwn(methods.get.responses['200']?.headers ?? {}, 'ETag'), url);
    for (const change of [methods.patch, methods.delete]) {
      if (change === undefined) continue;
      changes += 1;
      assert.ok(change.parameters?.some(({ name }) => name === 'if-match') && change.responses['412'], url);
    }
  }
  assert.ok(changes >= 2);
});
