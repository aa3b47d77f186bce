import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { appFor, LOCAL } from '../../../support/http-app.ts';

const { call } = await appFor({ after });
const TEXT = JSON.stringify(LOCAL);
const send = (raw: string | Buffer, type?: string, headers = {}) =>
  call('POST', '/v1/plans', {
    raw,
    headers: { ...(type === undefined ? {} : { 'content-type': type }), ...headers },
  });

describe('a body', () => {
  test('a body of type application/json in UTF-8 is accepted', async () => {
    for (const type of [
      'application/json',
      'application/json; charset=utf-8',
      'Application/JSON;charset=UTF-8',
    ]) {
      assert.equal((await send(TEXT, type)).statusCode, 200, type);
    }
  });

  test('a body of any other content type gets 415', async () => {
    for (const type of [
      'text/plain',
      'application/json\ta',
      'application/json; charset=utf-16',
      'application/json, text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/merge-patch+json',
      'applicationjson',
      '',
      'application/json;',
    ]) {
      const response = await send(TEXT, type);
      assert.equal(response.statusCode, 415, JSON.stringify(type));
      assert.equal(response.json().code, 'unsupported-media-type');
    }
  });

  test('a body without a content type or with a content encoding gets 415', async () => {
    assert.equal((await send(TEXT)).statusCode, 415);
    const bomb = gzipSync(Buffer.alloc(50_000_000, '['));
    assert.equal((await send(bomb, 'application/json', { 'content-encoding': 'gzip' })).statusCode, 415);
    assert.equal((await send(bomb, 'application/json')).statusCode, 400);
    assert.equal((await send(TEXT, 'application/json', { 'content-encoding': 'identity' })).statusCode, 200);
  });

  test('a body above 256 kB gets 413', async () => {
    const padded = (bytes: number) => TEXT.padEnd(bytes, ' ');
    assert.equal((await send(padded(256 * 1024), 'application/json')).statusCode, 200);
    const response = await send(padded(256 * 1024 + 1), 'application/json');
    assert.equal(response.statusCode, 413);
    assert.equal(response.json().code, 'body-too-large');
    assert.match(response.json().detail, /262,144 bytes/);
  });

  test('a missing body, or a body that is not a JSON object, gets 400', async () => {
    for (const raw of ['', 'null', '{', '[]', '"x"', '1', '{"a":1}{"b":2}']) {
      assert.equal((await send(raw, 'application/json')).statusCode, 400, raw);
    }
    assert.equal((await call('POST', '/v1/plans')).statusCode, 400);
  });

  test('an empty body of type application/json counts as no body', async () => {
    const headers = { 'content-type': 'application/json' };
    for (const [method, url, status] of [
      ['POST', '/v1/experiments/nope/cancel', 404],
      ['POST', '/v1/experiments/nope/rerun', 404],
      ['DELETE', '/v1/experiments/nope', 404],
      ['POST', '/v1/experiments', 400],
      ['PATCH', '/v1/experiments/nope', 400],
    ] as const) {
      assert.equal((await call(method, url, { raw: '', headers })).statusCode, status, `${method} ${url}`);
    }
    const submitted = await call('POST', '/v1/experiments', { raw: '', headers });
    assert.equal(submitted.json().code, 'invalid-spec');
  });
});
