import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { isFinal } from '../../../src/core/states.ts';
import { assertWholeStream, type Bench, startBench, until } from '../../support/dispatch.ts';
import { type DispatcherProcess, startDispatcherProcess } from '../../support/dispatcher-processes.ts';
import { createRandom, newSeed } from '../../support/random.ts';

const EXPERIMENTS = 30;
const STORM_MS = 3_000;
/** Shorter than many a freeze. */
const LEASE_MS = 900;

describe('a storm', () => {
  let bench: Bench;
  before(async () => {
    bench = await startBench({ cpus: 12 });
  });
  after(() => bench.stop());

  test('a storm of kills, freezes, hand-overs, lost answers, broken streams and cancels harms no experiment', async (t) => {
    const seed = newSeed();
    t.diagnostic(`ECHELON_SEED=${seed}`);
    const random = createRandom(seed);
    const { rayWorker, store } = bench;
    let number = 0;
    const start = () => startDispatcherProcess(bench, t, { id: `d${++number}`, leaseMs: LEASE_MS });
    const dispatchers: DispatcherProcess[] = [await start(), await start()];
    const cancelled = new Set<string>();
    const ids: string[] = [];
    for (let index = 0; index < EXPERIMENTS; index += 1)
      ids.push(
        await bench.submit(
          { steps: 10 + random(40), delayMs: 5, batchBytes: 500 },
          { maxAttempts: 20, cpus: 1 + random(3), priority: random(3) - 1, enqueue: random(5) > 0 },
        ),
      );

    const deeds: (() => Promise<void> | void)[] = [
      async () => {
        const [victim] = dispatchers.splice(random(dispatchers.length), 1);
        victim?.kill('SIGKILL');
        dispatchers.push(await start());
      },
      async () => {
        const victim = dispatchers[random(dispatchers.length)];
        victim?.kill('SIGSTOP');
        await delay(200 + random(2 * LEASE_MS));
        victim?.kill('SIGCONT');
      },
      async () => {
        const [leaver] = dispatchers.splice(random(dispatchers.length), 1);
        leaver?.kill('SIGTERM');
        dispatchers.push(await start());
      },
      async () => {
        rayWorker.launchFault = random(2) === 0 ? 'lose-answer' : 'unavailable';
        await delay(random(300));
        rayWorker.launchFault = 'none';
      },
      () => rayWorker.breakStreams(),
      async () => {
        const id = ids[random(ids.length)] ?? '';
        if ((await store.experiments.cancel(id, 'storm')) !== 'already-final') cancelled.add(id);
      },
      () => {
        const victims = rayWorker.running();
        const victim = victims[random(victims.length)];
        if (victim) rayWorker.kill(victim.experiment, victim.attempt);
      },
    ];
    const end = performance.now() + STORM_MS;
    while (performance.now() < end) {
      await deeds[random(deeds.length)]?.();
      await delay(random(150));
    }

    const all = () => Promise.all(ids.map((id) => store.experiments.get(id)));
    const going = async () => (await all()).filter((record) => !record || !isFinal(record.state));
    await until(async () => (await going()).length === 0, 'every experiment has ended', { instead: going });
    const records = await all();
    for (const record of records) {
      assert.ok(record);
      const { id, state, reason, quarantined } = record;
      const expected = cancelled.has(id) ? 'cancelled' : 'succeeded';
      assert.equal(quarantined, false, `${id}: ${reason}`);
      assert.equal(state, expected, `${id}: ${reason}`);
      for (const { attempt } of await store.attempts.list(id)) await assertWholeStream(store, id, attempt);
    }
    const launches = rayWorker.launches().map(({ experiment, attempt }) => `${experiment}/${attempt}`);
    assert.equal(new Set(launches).size, launches.length, 'an attempt is launched once');
    assert.equal(rayWorker.overlaps(), 0, 'one driver of an experiment runs at a time');
    assert.deepEqual(rayWorker.running(), []);
    for (const { items } of await Promise.all(
      (await store.clusters.list()).map(({ name }) => store.clusters.allocations(name)),
    ))
      assert.deepEqual(items, []);
  });
});
