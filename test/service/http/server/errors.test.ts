import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { ERRORS } from '../../../../src/core/errors.ts';
import { appFor } from '../../../support/http-app.ts';
import { storeOf } from '../../../support/made-up-store.ts';

const { app, call } = await appFor({ after });

describe('failures', () => {
  test('an unknown path gets 404, and an unknown method of a known path gets 405 with Allow', async () => {
    assert.equal((await call('GET', '/v1/nothing')).statusCode, 404);
    const cases = [
      ['DELETE', '/v1/experiments', 'GET, HEAD, POST'],
      ['PUT', '/v1/experiments/x', 'DELETE, GET, HEAD, PATCH'],
      ['GET', '/v1/experiments/x/cancel', 'POST'],
      ['POST', '/v1/queues', 'GET, HEAD'],
    ] as const;
    for (const [method, url, allow] of cases) {
      const response = await call(method, url);
      assert.equal(response.statusCode, 405, url);
      assert.equal(response.headers.allow, allow);
      assert.equal(response.json().code, 'method-not-allowed');
    }
  });

  test('GET /metrics gets 404 with the setting that enables metrics and their address', async () => {
    const response = await call('GET', '/metrics');
    assert.equal(response.statusCode, 404);
    assert.match(
      response.json().detail,
      /ECHELON_METRICS_PORT=9464 and read http:\/\/127\.0\.0\.1:9464\/metrics/,
    );
  });

  test('a path that cannot be decoded gets 400 with a problem document', async () => {
    for (const url of ['/v1/experiments/%', '/%c0%af', '/v1/%zz']) {
      const response = await app.inject({ url, headers: { host: 'echelon.test' } });
      assert.equal(response.statusCode, 400, url);
      assert.equal(response.headers['content-type'], 'application/problem+json; charset=utf-8');
      assert.equal(response.json().code, 'invalid-request');
    }
  });

  test('the message of an internal error is in the log and not in the answer', async (t) => {
    const counts = async () => Promise.reject(new TypeError('secret detail'));
    const failing = await appFor(t, {
      store: storeOf(() => counts),
    });
    const response = await failing.call('GET', '/v1/queues');
    assert.equal(response.statusCode, 500);
    assert.equal(response.json().retry, true);
    assert.equal(response.headers['retry-after'], '1');
    assert.ok(!response.body.includes('secret'));
    assert.ok(JSON.stringify(failing.logged).includes('secret detail'));
  });

  test('a request to a store that hangs gets 503 at the store timeout', async (t) => {
    const hanging = await appFor(t, {
      store: storeOf(() => () => new Promise(() => {})),
      limits: { storeTimeoutMs: 30 },
    });
    const response = await hanging.call('GET', '/v1/queues');
    assert.equal(response.statusCode, 503);
    assert.equal(response.json().code, 'store-unavailable');
  });
});

test('each registered error code has a page, and any other code gets 404', async () => {
  for (const code of Object.keys(ERRORS)) {
    const response = await call('GET', `/errors/${code}`);
    assert.equal(response.statusCode, 200, code);
    assert.match(response.body, new RegExp(`<h1><code>${code}</code></h1>`));
  }
  for (const code of ['nothing', 'toString', '__proto__', '%3Cscript%3E']) {
    assert.equal((await call('GET', `/errors/${code}`)).statusCode, 404, code);
  }
});
