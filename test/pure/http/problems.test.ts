import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VerifierBusyError } from 'echelon-verify/pool';
import { errorCodes } from 'fastify';
import { EchelonError, ERRORS } from '../../../src/core/errors.ts';
import { ADVICE, errorsMarkdown } from '../../../src/http/server/error-docs.ts';
import { toEchelonError, toProblem } from '../../../src/http/server/to-problem.ts';

test('toEchelonError returns our own errors unchanged, and the problem document has their fields', () => {
  const error = new EchelonError('invalid-spec', 'A sentence.', {
    problems: [{ field: '/a', message: 'is bad' }],
  });
  assert.equal(toEchelonError(error), error);
  assert.deepEqual(toProblem(error), {
    type: '/errors/invalid-spec',
    title: 'The experiment spec is invalid',
    status: 400,
    detail: 'A sentence.',
    code: 'invalid-spec',
    retry: false,
    problems: [{ field: '/a', message: 'is bad' }],
  });
});

test('an error of Fastify or of the verifier gets an error code of ours', () => {
  const cases = [
    [new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE(), 'body-too-large'],
    [new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE('x'), 'unsupported-media-type'],
    [new errorCodes.FST_ERR_CTP_INVALID_CONTENT_LENGTH(), 'invalid-request'],
    [new errorCodes.FST_ERR_BAD_URL('/%'), 'invalid-request'],
    [new VerifierBusyError('no process'), 'verifier-busy'],
    [
      Object.assign(new Error('x'), { code: 'FST_ERR_HANDLER_TIMEOUT', statusCode: 503 }),
      'deadline-exceeded',
    ],
    [Object.assign(new Error('teapot'), { statusCode: 418 }), 'invalid-request'],
    [Object.assign(new Error('gone'), { statusCode: 404 }), 'not-found'],
  ] as const;
  for (const [error, code] of cases) assert.equal(toEchelonError(error).code, code, error.message);
});

test('the problem document of a foreign error, or of an error with a cause, shows no detail', () => {
  const secret = 'connect ECONNREFUSED 10.0.0.1:6379';
  for (const thrown of [
    new Error(secret),
    secret,
    null,
    Object.assign(new Error(secret), { statusCode: 500 }),
    new EchelonError('internal', secret, { cause: new Error(secret) }),
    new EchelonError('store-unavailable', secret, { cause: new Error(secret) }),
  ]) {
    const problem = toProblem(toEchelonError(thrown));
    assert.ok(problem.status >= 500);
    assert.ok(!JSON.stringify(problem).includes('10.0.0.1'));
  }
});

test('the page of errors documents each registered error once and no other', () => {
  const documented = [...errorsMarkdown().matchAll(/^## (.+)$/gm)].map(([, code]) => code);
  assert.deepEqual(documented, Object.keys(ERRORS));
  assert.deepEqual(Object.keys(ADVICE).sort(), Object.keys(ERRORS).sort());
});

test('every code has an HTTP error status, a title and a yes or no for retry', () => {
  for (const [code, { status, title, retry }] of Object.entries(ERRORS)) {
    assert.match(code, /^[a-z]+(-[a-z]+)*$/);
    assert.ok(status >= 400 && status < 600, code);
    assert.ok(title.length > 10, code);
    assert.equal(typeof retry, 'boolean');
  }
});

test('an error knows what its code means', () => {
  const cause = new Error('inner');
  const error = new EchelonError('store-full', 'no room', {
    cause,
    problems: [{ field: '/a', message: 'b' }],
  });
  assert.deepEqual(
    [error.name, error.code, error.status, error.retry, error.message],
    ['EchelonError', 'store-full', 503, true, 'no room'],
  );
  assert.equal(error.cause, cause);
  assert.deepEqual(error.problems, [{ field: '/a', message: 'b' }]);
  assert.deepEqual(new EchelonError('not-found', 'x').problems, []);
});
