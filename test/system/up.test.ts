import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { processIdentity } from '../../src/cli/local/processes.ts';

const LAUNCHER = new URL('../../bin/echelon', import.meta.url).pathname;

/** Runs commands on a state directory of their own, which ends with the test. */
async function installation(t: TestContext) {
  const stateDir = await mkdtemp(join(tmpdir(), 'ech-up-'));
  const environment = { ...process.env, ECHELON_STATE_DIR: stateDir, ECHELON_PORT: '0' };
  const run = (...args: string[]) =>
    new Promise<{ status: number; stdout: string; stderr: string }>((resolve) => {
      execFile(LAUNCHER, args, { env: environment }, (error, stdout, stderr) =>
        resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
      );
    });
  t.after(async () => {
    await run('down');
    await rm(stateDir, { recursive: true, force: true });
  });
  return { stateDir, run };
}

test('a detached Echelon runs on after its command, shows its status, and is stopped', async (t) => {
  const { run } = await installation(t);
  const before = await run('status');
  assert.equal(before.status, 1);
  assert.match(before.stderr, /does not run/);

  const python = process.env.ECHELON_PYTHON ?? '.venv/bin/python';
  const up = await run('up', '--detach', '--python', python);
  assert.equal(up.status, 0, up.stderr);
  assert.match(up.stdout, /Echelon is running[\s\S]*echelon down/);
  assert.match(up.stderr, /starting Ray/);

  const status = JSON.parse((await run('status', '--json')).stdout);
  assert.equal(status.ready, true);
  assert.match((await run('nodes')).stdout, /local .* ready/);
  const again = await run('up', '--detach');
  assert.match(again.stderr, /already runs/);

  assert.equal((await run('down')).status, 0);
  assert.equal(processIdentity(status.pid), undefined);
});

test('a detached start that fails says why', async (t) => {
  const { stateDir, run } = await installation(t);
  const python = join(stateDir, 'python');
  await writeFile(python, '#!/bin/sh\necho "No module named ray" >&2\nexit 1\n');
  await chmod(python, 0o755);
  const { status, stderr } = await run('up', '--detach', '--python', python);
  assert.equal(status, 1);
  assert.match(stderr, /cannot import Ray \(No module named ray\)/);
  assert.match((await run('status')).stderr, /does not run/);
});
