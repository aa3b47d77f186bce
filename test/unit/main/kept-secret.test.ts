import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { keptSecret } from '../../../src/main/kept-secret.ts';

test('a secret is made once, kept for its owner alone, and another for each name', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'echelon-secret-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  const dir = join(root, 'state');
  const secret = await keptSecret(dir, 'one');
  assert.ok(Buffer.from(secret, 'base64url').length === 32);
  assert.equal(await keptSecret(dir, 'one'), secret);
  assert.notEqual(await keptSecret(dir, 'two'), secret);
  assert.equal((await stat(join(dir, 'one'))).mode & 0o777, 0o600);
  assert.equal((await stat(dir)).mode & 0o777, 0o700);
  await writeFile(join(dir, 'one'), ' written by hand\n');
  assert.equal(await keptSecret(dir, 'one'), 'written by hand');
});
