import assert from 'node:assert/strict';
import { test } from 'node:test';
import { each } from '../../../../src/dispatch/background/each.ts';

test('one that fails is said and stops no other; the end of the process stops the rest', async () => {
  const said: unknown[] = [];
  const log = { info() {}, warn: (context: object) => void said.push(context), error() {} };
  const failure = new Error('broken');
  const seen: string[] = [];
  let stopped = false;
  const done = await each({ log, stopped: () => stopped }, ['a', 'b', 'c', 'd', 'e'], 'x', async (id) => {
    seen.push(id);
    if (id === 'b') throw failure;
    stopped = id === 'd';
    return id !== 'c';
  });
  assert.deepEqual([done, seen], [2, ['a', 'b', 'c', 'd']]);
  assert.deepEqual(said, [{ err: failure, experiment: 'b' }]);
});
