import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CliError, EXIT } from '../src/exit.ts';

test('exit statuses are as documented', () => {
  assert.deepEqual(EXIT, { ok: 0, notOk: 1, usage: 2, unreachable: 3, unproven: 3, refused: 4 });
});

test('an error carries its status and the code of the API', () => {
  const error = new CliError(EXIT.refused, 'no', 'not-found');
  assert.deepEqual([error.exitCode, error.message, error.code], [4, 'no', 'not-found']);
  assert.equal(new CliError(1, 'x').code, undefined);
});
