import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { watchProgress } from '../../src/cli/stalled.ts';

const BOUNDS = { maxCpuSeconds: 0.3, everyMs: 20 };

test('a process that computes without progress is ended', async () => {
  const child = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
  const watch = watchProgress(child, BOUNDS);
  assert.deepEqual(await once(child, 'exit'), [null, 'SIGKILL']);
  assert.ok(watch.isStalled());
});

test('a process that waits, or makes progress, is not ended', async () => {
  const working = 'setInterval(() => { const end = Date.now() + 5; while (Date.now() < end); }, 10)';
  await Promise.all(
    ['setInterval(() => {}, 1000)', working].map(async (code) => {
      const child = spawn(process.execPath, ['-e', code], { stdio: 'ignore' });
      const ended = once(child, 'exit');
      const watch = watchProgress(child, BOUNDS);
      const timer = code === working ? setInterval(() => watch.progressed(), 10) : undefined;
      await delay(1_000);
      clearInterval(timer);
      assert.ok(!watch.isStalled(), code);
      child.kill();
      await ended;
    }),
  );
});
