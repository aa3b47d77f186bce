import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, ClientError, toClientError } from '../../../src/client/errors.ts';

const PROBLEM = {
  ...{
    type: '/errors/invalid-spec',
    title: 'The spec is not valid',
    status: 400,
    detail: 'It has one problem.',
  },
  ...{ code: 'invalid-spec', retry: false, problems: [{ field: '/engine', message: 'is missing' }] },
};

test('a problem document becomes an ApiError that says all of it', () => {
  const error = toClientError(PROBLEM, new Response(null, { status: 400 }));
  assert.ok(error instanceof ApiError && error instanceof ClientError && error instanceof Error);
  assert.equal(error.message, 'It has one problem.\n  /engine: is missing');
  const { type, title, status, detail, code, retry, problems } = error;
  assert.deepEqual({ type, title, status, detail, code, retry, problems }, PROBLEM);
});

test('no answer, and an answer of something else, are ClientErrors with a code', () => {
  const cause = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
  const none = toClientError(cause, undefined) as ClientError;
  assert.deepEqual(
    [none.code, none.message, none.cause],
    ['unreachable', 'No answer: connect ECONNREFUSED', cause],
  );
  for (const body of ['<html>', { error: 'x' }, undefined]) {
    const other = toClientError(body, new Response(null, { status: 502, statusText: 'Bad Gateway' }));
    assert.ok(other instanceof ClientError && other.code === 'unexpected-answer', String(body));
    assert.match(other.message, /502 Bad Gateway/);
  }
});

test('an aborted request throws the reason of its caller', () => {
  const reason = new DOMException('enough', 'AbortError');
  assert.equal(toClientError(reason, undefined), reason);
});
