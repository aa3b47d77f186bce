import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { until } from '../../support/dispatch.ts';

/** Runs ray-head.sh with programs that stand in for `ray` and `python`; `started` holds a line for each of their starts. */
async function runHead(
  t: TestContext,
  programs: { ray: string; python: string },
  content = 'a token of 27 characters...',
) {
  const directory = await mkdtemp(join(tmpdir(), 'ray-head-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const started = join(directory, 'started');
  await writeFile(started, '');
  await writeFile(join(directory, 'token'), content);
  for (const [name, body] of Object.entries(programs))
    await writeFile(join(directory, name), `#!/bin/bash\necho ${name} "$@" >>${started}\n${body}\n`, {
      mode: 0o755,
    });
  const token = join(directory, 'token');
  const child = spawn('bash', ['deploy/docker/ray-head.sh'], {
    env: {
      PATH: `${directory}:${process.env.PATH}`,
      ECHELON_RAY_TOKEN_FILE: token,
      ECHELON_RAY_WORKER_TOKEN_FILE: token,
      ECHELON_SHARED_ROOT: directory,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  const messages = text(child.stderr);
  const exit = once(child, 'exit');
  t.after(() => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // The whole group has ended.
    }
  });
  return { child, exit, started: () => readFile(started, 'utf8'), messages };
}

test('ray-head.sh ends with 1 if the head dies while the ray-worker still starts', {
  timeout: 30_000,
}, async (t) => {
  const head = await runHead(t, { ray: 'exit 3', python: 'exec sleep 600' });
  assert.deepEqual(await head.exit, [1, null]);
});

test('ray-head.sh ends with 1 if the head dies after the ray-worker started', {
  timeout: 30_000,
}, async (t) => {
  const head = await runHead(t, { ray: 'sleep 1; exit 3', python: 'exit 0' });
  assert.deepEqual(await head.exit, [1, null]);
});

test('ray-head.sh stops the attempts, then the head, and ends with 0 on SIGTERM', {
  timeout: 30_000,
}, async (t) => {
  const ray =
    'trap "echo ray stopped >>$(dirname $0)/started; exit 0" TERM; echo ray ready >>$(dirname $0)/started; while true; do sleep 0.1; done';
  const head = await runHead(t, { ray, python: 'exit 0' });
  await until(
    async () =>
      // The signal must not come before the stand-in can say that it was stopped.
      /ray ready[\s\S]*rayworker\.start|rayworker\.start[\s\S]*ray ready/.test(await head.started()),
    'both start',
  );
  head.child.kill('SIGTERM');
  assert.deepEqual(await head.exit, [0, null]);
  assert.match(await head.started(), /python -m echelon_rayworker\.stop [\s\S]*ray stopped/);
});

for (const [name, content, length] of [
  ['an empty', '\n', 0],
  ['a short', 'short', 5],
] as const)
  test(`ray-head.sh refuses ${name} token with a sentence before anything starts`, async (t) => {
    const head = await runHead(t, { ray: 'sleep 600', python: 'exit 0' }, content);
    assert.deepEqual(await head.exit, [1, null]);
    assert.match(
      await head.messages,
      new RegExp(`ECHELON_RAY_TOKEN_FILE: .*must hold a token of at least 16 characters, not ${length}`),
    );
    assert.equal(await head.started(), '');
  });
