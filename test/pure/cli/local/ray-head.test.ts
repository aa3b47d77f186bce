import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startRayHead } from '../../../../src/cli/local/ray-head.ts';

test('a Ray that does not start is reported with its log, and leaves no files', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'echelon-head-'));
  t.after(() => rm(directory, { recursive: true }));
  await symlink(process.execPath, join(directory, 'python3'));
  await writeFile(
    join(directory, 'ray'),
    '#!/bin/sh\necho "options: $*"\necho "token: $(printf %s "$RAY_AUTH_TOKEN" | wc -c) $RAY_USAGE_STATS_ENABLED"\nexit 7\n',
    { mode: 0o755 },
  );
  const temporary = async () =>
    (await readdir(tmpdir())).filter((name) => name.startsWith('ech-ray-')).length;
  const before = await temporary();
  const starting = startRayHead({
    python: join(directory, 'python3'),
    logDirectory: directory,
    environment: process.env,
  });
  await assert.rejects(starting, (error: Error) => {
    assert.match(error.message, /Ray did not start \(exit code 7\)/);
    assert.match(error.message, /--head --block --node-ip-address=127\.0\.0\.1 --port=\d+/);
    assert.doesNotMatch(error.message, /--port=6379/);
    assert.match(error.message, /token: 64 0/, 'a generated token, and no usage statistics');
    return true;
  });
  assert.equal(await temporary(), before);
});

test('a Ray that is not installed leaves no files', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'echelon-head-'));
  t.after(() => rm(directory, { recursive: true }));
  const temporary = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('ech-ray-'));
  const before = await temporary();
  const python = join(directory, 'python3');
  await assert.rejects(startRayHead({ python, logDirectory: directory, environment: process.env }), /ENOENT/);
  assert.deepEqual(await temporary(), before);
});
