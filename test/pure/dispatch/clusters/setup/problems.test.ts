import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  RayAuthenticationError,
  RayClosedError,
  RayPythonError,
  RaySessionRefusedError,
  RayTimeoutError,
  RayUnreachableError,
  RayVersionError,
} from 'ray-client-ts/errors';
import {
  SetupError,
  toCommandProblem,
  toSetupError,
} from '../../../../../src/dispatch/clusters/setup/problems.ts';

const python = (message: string, pythonTraceback = '') =>
  new RayPythonError({ pythonType: 'Error', pythonModule: 'm', message, pythonTraceback });

test('each failure has a message and a remedy', () => {
  const cases: [Error, RegExp, RegExp][] = [
    [new RayUnreachableError('refused'), /ray:\/\/h:1 cannot be reached from here: refused/, /10001/],
    [new RayAuthenticationError('no'), /does not accept the token/, /RAY_AUTH_TOKEN/],
    [new RayVersionError('1.0', 'Ray 1.0 is not supported'), /Ray 1\.0/, /tested range/],
    [new RaySessionRefusedError('no env'), /did not start a session: no env/, /logs of the head/],
    [new RayTimeoutError('x', 5), /longer than 5 ms/, /try again/],
    [new RayClosedError(), /closed/, /Try again/],
    [python("No module named 'grpc'"), /lacks grpcio/, /pip install grpcio/],
    [
      python('died', "ModuleNotFoundError: No module named 'google.protobuf'"),
      /lacks protobuf/,
      /pip install protobuf/,
    ],
    [python('RuntimeError: the ray-worker does not serve: port taken'), /cannot serve: port taken/, /--port/],
    [python('ValueError: odd\nmore'), /could not be started: .*odd$/, /logs of Ray/],
    [new Error('a fault'), /a fault/, /log of the dispatcher/],
  ];
  for (const [error, message, remedy] of cases) {
    const problem = toCommandProblem(error, 'ray://h:1');
    assert.equal(problem.severity, 'error');
    assert.match(problem.message, message);
    assert.match(problem.remedy, remedy);
  }
});

test('a SetupError stays as it is', () => {
  const error = new SetupError('so', 'do this');
  assert.equal(toSetupError(error, 'a'), error);
});
