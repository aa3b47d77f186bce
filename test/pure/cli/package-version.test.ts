import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { VERSION } from '../../../src/cli/package-version.ts';

test('the version is that of package.json', () => {
  assert.equal(VERSION, (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version);
});
