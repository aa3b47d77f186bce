import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startRayHead } from '../../../../src/cli/local/ray-head.ts';

/** A folder of this test for temporary files, which no other process uses; and what is in it. */
async function temporaryFor(t: TestContext): Promise<() => Promise<string[]>> {
  const folder = await mkdtemp(join(tmpdir(), 'echelon-head-'));
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  t.after(async () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    await rm(folder, { recursive: true });
  });
  return () => readdir(folder);
}

test('a Ray that does not start is reported with its log, and leaves no files', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'echelon-head-'));
  t.after(() => rm(directory, { recursive: true }));
  // As in a copied checkout: the script starts the Ray of the original.
  await writeFile(join(directory, 'ray'), '#!/bin/sh\necho "another Ray"\nexit 9\n', { mode: 0o755 });
  await writeFile(
    join(directory, 'python3'),
    '#!/bin/sh\n[ "$1" = -c ] && echo 2.60.0 && exit 0\necho "options: $*"\necho "token: $(printf %s "$RAY_AUTH_TOKEN" | wc -c) $RAY_USAGE_STATS_ENABLED"\nexit 7\n',
    { mode: 0o755 },
  );
  const temporary = await temporaryFor(t);
  const starting = startRayHead({
    python: join(directory, 'python3'),
    logDirectory: directory,
    environment: process.env,
  });
  await assert.rejects(starting, (error: Error) => {
    assert.match(error.message, /Ray did not start \(exit code 7\)/);
    assert.match(
      error.message,
      /options: -m ray\.scripts\.scripts start --head --block --node-ip-address=127\.0\.0\.1 --port=\d+/,
    );
    assert.doesNotMatch(error.message, /--port=6379/);
    assert.match(error.message, /token: 64 0/, 'a generated token, and no usage statistics');
    return true;
  });
  assert.deepEqual(await temporary(), []);
});

test('a Ray that is not installed leaves no files', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'echelon-head-'));
  t.after(() => rm(directory, { recursive: true }));
  const temporary = await temporaryFor(t);
  const python = join(directory, 'python3');
  await assert.rejects(
    startRayHead({ python, logDirectory: directory, environment: process.env }),
    /there is no such program/,
  );
  assert.deepEqual(await temporary(), []);
});
