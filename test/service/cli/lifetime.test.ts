import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, type TestContext, test } from 'node:test';

const lifetime = JSON.stringify(new URL('../../../src/cli/lifetime.ts', import.meta.url));

/** Runs a program that uses `withLifetime`; sends it `signal` when it has printed "started". */
async function run(t: TestContext, work: string, interrupted: string, signal?: NodeJS.Signals) {
  const code = `
    const { withLifetime } = await import(${lifetime});
    try {
      console.log('result', await withLifetime(async (resources) => {
        resources.defer(async () => { await null; console.log('released'); });
        console.log('started');
        ${work}
      }, ${interrupted}));
    } catch (error) { console.log('caught', error.message); process.exitCode = 7; }`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
    if (signal && text.includes('started')) child.kill(signal);
  });
  const [status] = (await once(child, 'close')) as [number];
  return { status, printed: printed.trim().split('\n') };
}

const FOREVER = 'await new Promise(() => setInterval(() => {}, 1000));';

describe('what is acquired is released', () => {
  test('what is acquired is released when the work is done', async (t) => {
    const { status, printed } = await run(t, 'return 5;', '() => 0');
    assert.deepEqual([status, printed], [0, ['started', 'released', 'result 5']]);
  });

  test('what is acquired is released when it fails', async (t) => {
    const { status, printed } = await run(t, 'throw new Error("no");', '() => 0');
    assert.deepEqual([status, printed], [7, ['started', 'released', 'caught no']]);
  });

  test('what is acquired is released at a signal, in the middle of the work; the exit status is that of the command', async (t) => {
    const wanted = '(why) => { throw new Error(why.signal); }';
    const { status, printed } = await run(t, FOREVER, wanted, 'SIGINT');
    assert.deepEqual([status, printed], [7, ['started', 'released', 'caught SIGINT']]);
  });

  test('what is acquired is released at a signal that is an ordinary end', async (t) => {
    const { status, printed } = await run(t, FOREVER, '(why) => why.signal', 'SIGTERM');
    assert.deepEqual([status, printed], [0, ['started', 'released', 'result SIGTERM']]);
  });

  test('what is acquired is released at an uncaught error', async (t) => {
    const work = `setImmediate(() => { throw new Error('a fault'); }); ${FOREVER}`;
    const { status, printed } = await run(t, work, '(why) => { throw why.err; }');
    assert.deepEqual([status, printed], [7, ['started', 'released', 'caught a fault']]);
  });
});
