import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { createLimitedStart } from '../../src/pool/memory-limit.ts';
import { folder } from '../support/dump-files.ts';

const MEBIBYTE = 2 ** 20;

/** Starts a script that sends what it finds; the first message, or undefined if the process ends without one. */
async function said(script: string, memoryBytes: number): Promise<unknown> {
  await using at = await folder();
  const limits = { memoryBytes, heapBytes: 64 * MEBIBYTE, cpuSeconds: 60 };
  const child = await createLimitedStart(limits)(await at.write('script.mjs', script));
  const ended = once(child, 'exit').then(() => undefined);
  const message = await Promise.race([once(child, 'message').then(([first]) => first as unknown), ended]);
  child.kill('SIGKILL');
  await ended;
  return message;
}

const native = (mebibytes: number) => `
  const kept = [];
  try {
    while (kept.length < ${mebibytes}) kept.push(Buffer.alloc(${MEBIBYTE}, 1));
    process.send('all');
  } catch (error) {
    process.send(error.message);
  }`;

test('a process gets its memory and no more, native memory included', async () => {
  assert.equal(await said(native(100), 256 * MEBIBYTE), 'all');
  if (process.platform !== 'linux') return;
  assert.match(String(await said(native(1_000), 256 * MEBIBYTE)), /allocation failed|undefined/i);
});

test('JavaScript objects beyond the limit end the process', async () => {
  const objects = `const kept = []; for (let i = 0; i < 9e6; i++) kept.push(new Set()); process.send('all');`;
  assert.equal(await said(objects, 256 * MEBIBYTE), undefined);
});

test('a process does not get the environment of its parent', async () => {
  const script =
    'process.send(Object.keys(process.env).filter((name) => !/^(NODE_CHANNEL|PWD|_$|SHLVL|OLDPWD)/.test(name)));';
  assert.deepEqual(await said(script, 256 * MEBIBYTE), []);
});
