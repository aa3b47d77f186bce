import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathLine } from '../../../src/cli/launcher.ts';

test('the command that puts echelon on PATH is given only for a checkout that is not on PATH', () => {
  const folder = join(import.meta.dirname, '../../../bin');
  assert.equal(pathLine('/nowhere:/also-nowhere'), `export PATH="${folder}:$PATH"`);
  assert.equal(pathLine(`/nowhere:${folder}`), undefined);
  assert.equal(pathLine('/nowhere', '/an/installed/package'), undefined);
});
