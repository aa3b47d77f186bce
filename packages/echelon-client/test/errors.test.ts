import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, ClientError, refusal, unanswered } from '../src/errors.ts';

const PROBLEM = {
  type: '/errors/invalid-spec',
  title: 'The spec is not valid',
  status: 400,
  detail: 'It has one problem.',
  code: 'invalid-spec',
  retry: false,
  problems: [{ field: '/engine', message: 'is missing' }],
};

test('a problem document becomes an ApiError with all its fields', async () => {
  const response = Response.json(PROBLEM, { status: 400 });
  const error = await refusal(response);
  assert.ok(error instanceof ApiError && error instanceof ClientError && error instanceof Error);
  assert.equal(error.message, 'It has one problem.\n  /engine: is missing');
  const { type, title, status, detail, code, retry, problems } = error;
  assert.deepEqual({ type, title, status, detail, code, retry, problems }, PROBLEM);
  assert.equal(error.response, response);
});

test('a missing answer, and an answer that is no problem document, become a ClientError with a code', async () => {
  const cause = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
  const none = unanswered(cause);
  assert.deepEqual(
    [none.code, none.message, none.cause, none.response],
    ['unreachable', 'No answer: connect ECONNREFUSED', cause, undefined],
  );
  for (const body of ['<html>', '{"error":"x"}', null]) {
    const response = new Response(body, { status: 502, statusText: 'Bad Gateway' });
    const other = await refusal(response);
    assert.ok(other.code === 'unexpected-answer' && !(other instanceof ApiError), String(body));
    assert.match(other.message, /502 Bad Gateway/);
    assert.equal(other.response, response);
  }
});
