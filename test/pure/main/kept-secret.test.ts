import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { SettingsError } from '../../../src/config/settings.ts';
import { keptSecret } from '../../../src/main/api.ts';

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

// Fails where each of them writes its own: tokens and sessions of one api would mean nothing to the other.
test('processes that start together agree on one, also where an empty file was left', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'echelon-secret-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const made = await Promise.all(Array.from({ length: 8 }, () => keptSecret(dir, 'one')));
  assert.equal(new Set(made).size, 1);
  await writeFile(join(dir, 'two'), '');
  assert.equal(await keptSecret(dir, 'two'), await keptSecret(dir, 'two'));
  assert.deepEqual(await readdir(dir), ['one', 'two']);
});

test('a secret that others could have put there is refused, and nothing is made', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'echelon-secret-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  await writeFile(join(dir, 'token'), 'planted-by-another-user', { mode: 0o600 });
  await chmod(dir, 0o777);
  // Fails where whatever lies there is taken: who planted the token would be admin.
  await assert.rejects(keptSecret(dir, 'token'), SettingsError);
  await assert.rejects(keptSecret(dir, 'another'), /can be written by other users/);
  assert.deepEqual(await readdir(dir), ['token']);
  await chmod(dir, 0o700);
  await chmod(join(dir, 'token'), 0o666);
  await assert.rejects(keptSecret(dir, 'token'), /chmod go-w/);
  await chmod(join(dir, 'token'), 0o600);
  assert.equal(await keptSecret(dir, 'token'), 'planted-by-another-user');
});
