import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as errors from '../src/errors.ts';

const details = { pythonType: 'ValueError', pythonModule: 'builtins', message: 'x', pythonTraceback: 'T' };

test('each error has its name, its code and one root', () => {
  const all: [errors.RayError, string][] = [
    [new errors.RayUnreachableError('m'), 'unreachable'],
    [new errors.RayAuthenticationError('m'), 'unauthenticated'],
    [new errors.RayVersionError('1.0', 'm'), 'version'],
    [new errors.RaySessionRefusedError('m'), 'session-refused'],
    [new errors.RaySessionLostError('m'), 'session-lost'],
    [new errors.RayGeneratorError('m'), 'generator'],
    [new errors.RayClosedError(), 'closed'],
    [new errors.RayTimeoutError('get', 5), 'timeout'],
    [new errors.RayPickleError('m'), 'pickle'],
    [new errors.RayRequestError(2, 'm'), 'request'],
    [new errors.RayPythonError(details), 'python'],
    [new errors.RayActorDiedError(details), 'actor-died'],
  ];
  for (const [error, code] of all) {
    assert.ok(error instanceof errors.RayError && error instanceof Error);
    assert.equal(error.code, code);
    assert.equal(error.name, error.constructor.name);
  }
});

test('messages say what happened', () => {
  assert.equal(new errors.RayTimeoutError('get', 5).message, 'get took longer than 5 ms');
  assert.equal(new errors.RayPythonError(details).message, 'ValueError: x');
  assert.equal(new errors.RayPythonError({ ...details, message: '' }).message, 'ValueError');
  const cause = new Error('c');
  assert.equal(new errors.RaySessionLostError('m', { cause }).cause, cause);
});
