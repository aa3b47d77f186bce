import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forEachExperiment } from '../../../../src/dispatch/background/for-each-experiment.ts';

test('a failure is logged and stops no other experiment; a stop of the process ends the rest', async () => {
  const said: unknown[] = [];
  const log = { info() {}, warn: (context: object) => void said.push(context), error() {} };
  const failure = new Error('broken');
  const seen: string[] = [];
  let stopped = false;
  const done = await forEachExperiment(
    { log, stopped: () => stopped, atOnce: 1 },
    ['a', 'b', 'c', 'd', 'e'],
    'x',
    async (id) => {
      seen.push(id);
      if (id === 'b') throw failure;
      stopped = id === 'd';
      return id !== 'c';
    },
  );
  assert.deepEqual([done, seen], [2, ['a', 'b', 'c', 'd']]);
  assert.deepEqual(said, [{ err: failure, experiment: 'b' }]);
});

/* Fails one after the other: the first one, which never ends, holds up the rest. */
test('a slow experiment delays no other, within the limit of concurrent experiments', async () => {
  const log = { info() {}, warn() {}, error() {} };
  const hung = Promise.withResolvers<boolean>();
  const done: string[] = [];
  let now = 0;
  let most = 0;
  const all = forEachExperiment(
    { log, stopped: () => false, atOnce: 2 },
    ['hung', 'a', 'b', 'c'],
    'x',
    async (id) => {
      most = Math.max(most, ++now);
      if (id === 'hung') await hung.promise;
      else await Promise.resolve();
      now -= 1;
      done.push(id);
      if (id === 'c') hung.resolve(true);
      return true;
    },
  );
  assert.deepEqual([await all, done, most], [4, ['a', 'b', 'c', 'hung'], 2]);
});
