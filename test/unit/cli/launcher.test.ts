import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathLine } from '../../../src/cli/launcher.ts';

test('the line that puts echelon on PATH is told to a checkout whose shell lacks it, and to no other', () => {
  const folder = join(import.meta.dirname, '../../../bin');
  assert.equal(pathLine('/nowhere:/also-nowhere'), `export PATH="${folder}:$PATH"`);
  assert.equal(pathLine(`/nowhere:${folder}`), undefined);
  assert.equal(pathLine('/nowhere', '/an/installed/package'), undefined);
});
