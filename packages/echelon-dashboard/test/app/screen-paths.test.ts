import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SCREENS } from '../../src/app/screen-paths.ts';

test('no screen has a path of the API, of its documents or of the board', () => {
  for (const taken of ['v1', 'docs', 'queues', 'login', 'logout', 'errors', 'assets', 'healthz', 'readyz'])
    assert.ok(!(SCREENS as readonly string[]).includes(taken), taken);
});
