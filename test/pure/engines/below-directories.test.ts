import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isBelow } from '../../../src/engines/below-directories.ts';

test('a path is below a directory only by whole names, and never with ..', () => {
  for (const path of ['/srv', '/srv/', '/srv/a', '/srv//a/./b'])
    assert.ok(isBelow(path, ['/x', '/srv']), path);
  for (const path of ['/srv2', 'srv', '/', '/srv/../etc', '']) assert.ok(!isBelow(path, ['/srv']), path);
  assert.ok(!isBelow('/srv', []));
});
