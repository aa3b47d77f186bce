import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { PYTHON_PACKAGES, startLocalStack } from '../../../../src/cli/local/stack.ts';

test('the Python package is found beside the program', () => {
  assert.ok(existsSync(join(PYTHON_PACKAGES.rayWorker, 'echelon_rayworker/__init__.py')));
  assert.ok(existsSync(join(PYTHON_PACKAGES.capture, 'echelon_capture/__init__.py')));
});

test('if one part does not start, the parts before it are released', async (t) => {
  const stateDir = await mkdtemp(join(tmpdir(), 'echelon-stack-'));
  t.after(() => rm(stateDir, { recursive: true, force: true }));
  const resources = new AsyncDisposableStack();
  const said: string[] = [];
  const starting = startLocalStack({
    stateDir,
    redisUrl: null,
    python: join(stateDir, 'bin/no-python'),
    environment: process.env,
    resources,
    progress: (text) => said.push(text),
  });
  await assert.rejects(starting, /ENOENT/);
  assert.deepEqual(said, ['starting Redis', 'starting Ray']);
  assert.ok(existsSync(join(stateDir, 'redis/redis.sock')));
  await resources.disposeAsync();
  assert.ok(!existsSync(join(stateDir, 'redis/redis.sock')), 'Redis still runs');
});
