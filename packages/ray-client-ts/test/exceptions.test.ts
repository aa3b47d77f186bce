import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { RayActorDiedError, RayPythonError } from '../src/errors.ts';
import { errorFromPickle, isException } from '../src/exceptions.ts';
import { readPickle } from '../src/pickle/reader.ts';
import { writePickle } from '../src/pickle/writer.ts';

const pickles = JSON.parse(
  readFileSync(new URL('./pickle/exception-pickles.json', import.meta.url), 'utf8'),
) as Record<string, string>;
const bytes = (name: string): Uint8Array => Buffer.from(pickles[name] ?? '', 'hex');
const read = (name: string): RayPythonError => {
  const error = errorFromPickle(bytes(name), 'test');
  assert.ok(error instanceof RayPythonError);
  return error;
};

describe('exceptions, from pickles of Ray itself', () => {
  const expected: [string, string, string, string | undefined, string][] = [
    ['valueError', 'ValueError', 'builtins', undefined, 'bad'],
    ['keyError', 'KeyError', 'builtins', undefined, 'k, 2'],
    ['taskError', 'ValueError', 'builtins', 'RayTaskError', 'bad thing'],
    ['taskErrorOfTwoLines', 'ValueError', 'builtins', 'RayTaskError', 'one\ntwo'],
    ['taskErrorHomeMade', 'HomeMade', '__main__', 'RayTaskError', 'home made x'],
    ['taskErrorNested', 'ZeroDivisionError', 'builtins', 'RayTaskError', 'deep'],
    ['taskErrorAsCause', 'ValueError', 'builtins', 'RayTaskError', 'dual'],
    ['cancelled', 'TaskCancelledError', 'ray.exceptions', 'TaskCancelledError', ''],
    ['getTimeout', 'GetTimeoutError', 'ray.exceptions', 'GetTimeoutError', 'too late'],
    ['crashed', 'WorkerCrashedError', 'ray.exceptions', 'WorkerCrashedError', ''],
    ['runtimeEnv', 'RuntimeEnvSetupError', 'ray.exceptions', 'RuntimeEnvSetupError', 'no such package'],
  ];
  for (const [name, type, module, rayType, message] of expected) {
    test(name, () => {
      const error = read(name);
      assert.deepEqual(
        [error.pythonType, error.pythonModule, error.rayType, error.pythonMessage],
        [type, module, rayType, message],
      );
      assert.equal(error.code, 'python');
    });
  }

  test('a task error has its function and its traceback, without colours', () => {
    const error = read('taskError');
    assert.equal(error.functionName, 'f');
    assert.match(error.pythonTraceback, /^ray::f\(\) \(pid=7/);
    assert.match(error.pythonTraceback, /ValueError: bad thing$/);
  });

  test('an exception raised from another has it as its cause, with its traceback', () => {
    const error = read('taskErrorChained');
    assert.equal(error.message, 'RuntimeError: outer');
    const cause = error.cause;
    assert.ok(cause instanceof RayPythonError);
    assert.deepEqual(
      [cause.pythonType, cause.pythonModule, cause.pythonMessage, cause.cause],
      ['KeyError', 'builtins', "'lost key'", undefined],
    );
    assert.match(cause.pythonTraceback, /^Traceback[\s\S]*in inner[\s\S]*KeyError: 'lost key'$/);
    assert.match(error.pythonTraceback, /lost key[\s\S]*direct cause[\s\S]*RuntimeError: outer$/);
    assert.equal(read('taskError').cause, undefined);
  });

  test('a dead actor has a class of its own', () => {
    const error = read('actorDied');
    assert.ok(error instanceof RayActorDiedError);
    assert.equal(error.code, 'actor-died');
    assert.match(error.pythonMessage, /died unexpectedly/);
  });

  test('a constructor that raised is the cause', () => {
    const error = read('actorConstructor');
    assert.ok(error instanceof RayActorDiedError);
    assert.ok(error.cause instanceof RayPythonError);
    assert.equal(error.cause.pythonMessage, 'in __init__');
    assert.match(error.pythonTraceback, /ValueError: in __init__/);
  });
});

test('isException tells failures from values', () => {
  for (const name of ['valueError', 'taskError', 'taskErrorAsCause', 'actorDied']) {
    assert.ok(isException(readPickle(bytes(name))), name);
  }
  assert.ok(!isException(readPickle(writePickle({ message: 'ValueError' }))));
  assert.ok(!isException(readPickle(Buffer.from('8002636f730a73797374656d0a29522e', 'hex'))));
});

test('what is no pickle of an exception is still an error', () => {
  assert.equal(
    (errorFromPickle(new Uint8Array(0), 'put') as RayPythonError).pythonType,
    'UnreadableException',
  );
  assert.match(errorFromPickle(writePickle(5), 'put').message, /put failed/);
});
