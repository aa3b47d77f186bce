import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLoop } from '../../../src/dispatch/loop.ts';
import { QUIET, until } from '../../support/dispatch.ts';

const NEVER_MS = 2 ** 30;

describe('a loop', () => {
  test('a loop runs at its start, at each poke, and never twice at a time', async () => {
    let running = 0;
    let times = 0;
    const gates: (() => void)[] = [];
    const loop = createLoop({
      name: 'test',
      everyMs: NEVER_MS,
      log: QUIET,
      async run() {
        running += 1;
        times += 1;
        assert.equal(running, 1);
        await new Promise<void>((resolve) => gates.push(resolve));
        running -= 1;
      },
    });
    loop.start();
    loop.poke();
    loop.poke();
    assert.equal(times, 1);
    gates.shift()?.();
    await until(() => times === 2, 'the pokes come together to one more time');
    gates.shift()?.();
    await until(() => running === 0, 'it rests');
    loop.poke();
    await until(() => times === 3, 'a poke wakes it');
    const stopped = loop.stop();
    gates.shift()?.();
    await stopped;
    loop.poke();
    assert.equal(times, 3);
  });

  test('a loop runs again by itself, also after a failure, and logs equal failures once', async () => {
    const told: string[] = [];
    let times = 0;
    const loop = createLoop({
      name: 'test',
      everyMs: 1,
      log: { ...QUIET, warn: (_, message) => told.push(message) },
      async run() {
        times += 1;
        if (times <= 3) throw new Error('broken');
      },
    });
    loop.start();
    await until(() => times >= 5, 'it continues');
    await loop.stop();
    assert.deepEqual(told, ['test failed: broken']);
  });

  // Fails where a poke does not wait: each end of a burst would ask the cluster anew.
  test('combines pokes during its rest into one run at the end of the rest', async () => {
    const begun: number[] = [];
    const loop = createLoop({
      name: 'test',
      everyMs: NEVER_MS,
      restMs: 30,
      log: QUIET,
      run: async () => void begun.push(performance.now()),
    });
    loop.start();
    for (let poke = 0; poke < 5; poke += 1) {
      loop.poke();
      await new Promise(setImmediate);
    }
    await until(() => begun.length >= 2, 'it begins once more');
    await loop.stop();
    assert.ok(begun[1]! - begun[0]! >= 28, 'not before the rest is over');
  });

  test('a loop does nothing before its start', async () => {
    const loop = createLoop({ name: 't', everyMs: 1, log: QUIET, run: async () => assert.fail() });
    loop.poke();
    await loop.stop();
  });
});
