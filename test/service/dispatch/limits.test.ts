import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Bench, runsAs, startBench, until } from '../../support/dispatch.ts';
import { startDispatcherProcess } from '../../support/dispatcher-processes.ts';

const launchesOf = (bench: Bench, id: string) =>
  bench.rayWorker.launches().filter((line) => line.experiment === id).length;

const runs = (bench: Bench, id: string) => bench.rayWorker.running().some((line) => line.experiment === id);

describe('limits', () => {
  let bench: Bench;
  before(async () => {
    bench = await startBench();
  });
  after(() => bench.stop());

  test('a timeout ends the driver and fails the experiment', async (t) => {
    const dispatcher = await bench.dispatcher();
    t.after(() => dispatcher.stop({ handOver: false }));
    const id = await bench.submit({ hang: true }, { timeoutSeconds: 0.2 });
    const record = await bench.reaches(id, 'failed');
    assert.match(record.reason, /^the attempt ran longer than its timeout of 0.2 s; the driver was stopped/);
    assert.equal(record.quarantined, false);
    assert.equal(runs(bench, id), false);
    assert.equal(launchesOf(bench, id), 1);
    const ended = (await bench.store.attempts.list(id))[0]?.ended;
    assert.equal(ended?.cause, 'stopped');
  });

  // Fails if the timeout is a timer of the dispatcher: such a timer ends with its process.
  test('a timeout is enforced after its dispatcher died', async (t) => {
    const first = await startDispatcherProcess(bench, t, { id: 'first' });
    const id = await bench.submit({ hang: true }, { timeoutSeconds: 1.5 });
    await bench.reaches(id, 'running');
    first.kill('SIGKILL');
    await first.exited;
    await startDispatcherProcess(bench, t, { id: 'second' });
    const record = await bench.reaches(id, 'failed');
    assert.match(record.reason, /timeout of 1.5 s/);
    assert.equal(record.attempt, 1);
  });

  test('a deadline ends a running experiment, and a queued one without a launch', async (t) => {
    const dispatcher = await bench.dispatcher();
    t.after(() => dispatcher.stop({ handOver: false }));
    // Long enough to be started before it also on a busy machine.
    const deadline = new Date(Date.now() + 4_000).toISOString();
    const running = await bench.submit({ hang: true }, { deadline });
    const waiting = await bench.submit({ hang: true }, { deadline, cluster: 'not-there' });
    await bench.reaches(running, 'running');
    assert.match(
      (await bench.reaches(running, 'failed')).reason,
      /^its deadline has passed; the driver was stopped/,
    );
    assert.match((await bench.reaches(waiting, 'failed')).reason, /deadline passed before it could start/);
    assert.equal(launchesOf(bench, waiting), 0);
  });

  test('an experiment that ends in time is not affected', async (t) => {
    const dispatcher = await bench.dispatcher();
    t.after(() => dispatcher.stop({ handOver: false }));
    const deadline = new Date(Date.now() + 3_600_000).toISOString();
    await bench.reaches(await bench.submit({ steps: 3 }, { timeoutSeconds: 60, deadline }), 'succeeded');
    assert.equal(await bench.redis.zcard('{echelon}:deadlines'), 0);
  });

  // Fails if a hand-over uses up an attempt: the first real loss would be the last.
  test('a hand-over before the launch keeps the number of the attempt', async (t) => {
    const claimed = Promise.withResolvers<void>();
    const leaving = Promise.withResolvers<void>();
    const first = await bench.dispatcher({
      hooks: {
        async beforeLaunch() {
          claimed.resolve();
          await leaving.promise;
        },
      },
    });
    const id = await bench.submit({ hang: true }, { maxAttempts: 2 });
    await claimed.promise;
    await first.stop({ handOver: true });
    leaving.resolve();
    const second = await bench.dispatcher();
    t.after(() => second.stop({ handOver: false }));
    for (const attempt of [1, 2]) {
      await bench.comes(id, `ran as attempt ${attempt}`, runsAs(attempt));
      bench.rayWorker.kill(id, attempt);
    }
    const record = await bench.reaches(id, 'failed');
    assert.match(record.reason, /^attempt 2, program fault 2 of at most 2: the driver was killed/);
    assert.equal(launchesOf(bench, id), 2);
  });

  test('repeated hand-overs are not counted as crashes', async (t) => {
    const id = await bench.submit({ hang: true });
    for (const name of ['d', 'e', 'f', 'g']) {
      const leaver = await startDispatcherProcess(bench, t, { id: name });
      await until(
        async () => (await bench.redis.hget(`{echelon}:x:${id}`, 'dispatcher')) === name,
        `${name} has it`,
      );
      // One that leaves before its launch is confirmed hands over an attempt that still is to be launched.
      await bench.reaches(id, 'running');
      leaver.kill('SIGTERM');
      await leaver.exited;
    }
    const record = await bench.store.experiments.get(id);
    assert.equal(record?.state, 'running');
    assert.equal(await bench.redis.hget(`{echelon}:x:${id}`, 'crashes'), null);
    const last = await bench.dispatcher();
    t.after(() => last.stop({ handOver: false }));
    await bench.store.experiments.cancel(id, 'the test is over');
    await bench.reaches(id, 'cancelled');
  });
});
