import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EchelonError, ERRORS } from '../../../src/core/errors.ts';

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
