import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { interruptible } from '../../../src/cli/lifetime.ts';
import { keptOutput } from '../../support/cli.ts';

test('what is followed to its end says nothing, and an error is the caller\u2019s', async () => {
  const output = keptOutput();
  await interruptible({ id: 'exp-1', output }, async () => undefined);
  await assert.rejects(
    interruptible({ id: 'exp-1', output }, () => Promise.reject(new Error('not well'))),
    /not well/,
  );
  assert.deepEqual(output.remarks, []);
});

test('Ctrl-C says that the run continues and how to follow it again, with the status of an interrupted program', async () => {
  const files = ['src/cli/lifetime.ts', 'packages/command-kit/src/output.ts'];
  const [module, terminal] = files.map((file) =>
    JSON.stringify(new URL(`../../../${file}`, import.meta.url)),
  );
  const script = `import { interruptible } from ${module}; import { terminal } from ${terminal};
    setInterval(() => {}, 60_000);
    await interruptible({ id: 'exp-1', output: terminal }, () => { console.log('ready'); return new Promise(() => {}); });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
  const said = text(child.stderr);
  await once(createInterface(child.stdout), 'line');
  child.kill('SIGINT');
  const [status] = (await once(child, 'close')) as [number];
  assert.deepEqual(
    [status, await said],
    [130, '\nexp-1 continues. Follow it again with:\n  echelon watch exp-1\n'],
  );
});
