import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type Bench, startBench, until } from '../../support/dispatch.ts';
import { ENDLESS } from '../../support/fake-driver.ts';
import { shiftClock } from '../../support/shifted-clock.ts';

const HOUR_MS = 3_600_000;
const DECADE_MS = 87_660 * HOUR_MS;

describe('a dispatcher whose clock is wrong', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await startBench({ cpus: 1 });
  });
  afterEach(async () => {
    shiftClock(0);
    await bench.stop();
  });

  const reasons = async () => (await bench.store.queue.first(100)).map(({ reason }) => reason ?? '');

  // Fails where a time between two writes is measured by a clock that can be set.
  test('writes the wait reasons of a long queue also after its clock was set back by an hour', async () => {
    await bench.dispatcher();
    const running = await bench.submit({ steps: ENDLESS });
    await bench.reaches(running, 'running');
    await Promise.all(Array.from({ length: 20 }, () => bench.submit({})));
    await until(async () => (await reasons()).every((reason) => reason !== ''), 'every reason is written');
    shiftClock(-HOUR_MS);
    await bench.store.queue.setPaused({ kind: 'all' }, { by: 'ann', at: 0, reason: 'upgrade' });
    await until(
      async () => (await reasons()).every((reason) => /ann/.test(reason)),
      'reasons name the pause',
      {
        seconds: 20,
        instead: reasons,
      },
    );
  });

  // Fails where the ages of data are computed with the clock of the dispatcher.
  test('deletes nothing early if its clock is ten years ahead', async () => {
    const { store } = bench;
    const id = await bench.submit({ batchBytes: 100 });
    shiftClock(DECADE_MS);
    let rounds = 0;
    const collectGarbage = async (limit: number) => {
      rounds += 1;
      return await store.retention.collectGarbage(limit);
    };
    const watched = { ...store, retention: { ...store.retention, collectGarbage } };
    await bench.dispatcher({ store: watched, times: { retentionMs: 20, archiveAfterMs: 0 } });
    await bench.reaches(id, 'succeeded');
    const endedBefore = Date.now();
    const listed = async () => await store.retention.due('batches', 'default', { endedBefore, limit: 10 });
    await until(async () => (await listed()).includes(id), 'retention knows the experiment');
    const then = rounds;
    await until(() => rounds >= then + 3, 'retention was applied');
    assert.equal((await store.experiments.get(id))?.state, 'succeeded');
    assert.ok((await store.events.read(id, undefined, 10)).length > 0);
  });
});
