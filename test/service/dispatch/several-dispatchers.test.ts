import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  assertWholeStream,
  type Bench,
  isVerified,
  runsAs,
  startBench,
  until,
} from '../../support/dispatch.ts';
import { ENDLESS } from '../../support/fake-driver.ts';

describe('a dispatcher', () => {
  let bench: Bench;
  before(async () => {
    bench = await startBench();
    await bench.dispatcher();
  });
  after(() => bench.stop());

  test('a dispatcher takes an experiment from submission to success, every event once and in order', async () => {
    const id = await bench.submit({ steps: 20, batchBytes: 100, logLines: 2 });
    const record = await bench.reaches(id, 'succeeded');
    assert.equal(record.attempt, 1);
    const entries = await bench.store.events.read(id, undefined, 10_000);
    assert.equal(await assertWholeStream(bench.store, id, 1), 1 + 20 * 4 + 1);
    const states = entries.flatMap(({ event }) => (event.type === 'state' ? [event.to] : []));
    assert.deepEqual(states, ['queued', 'launching', 'running', 'succeeded']);
    assert.deepEqual(
      bench.rayWorker.launches().filter((line) => line.experiment === id),
      [{ experiment: id, attempt: 1 }],
    );
  });

  test('a dispatcher has every batch verified and reported', async () => {
    const id = await bench.submit({ steps: 5, batchBytes: 200_000 });
    await bench.reaches(id, 'succeeded');
    const { verification } = await bench.comes(id, 'was verified', isVerified);
    assert.deepEqual([verification.batches, verification.batchesVerified, verification.exact], [5, 5, 20]);
  });

  test('records that an experiment failed, and why', async () => {
    const id = await bench.submit({ steps: 1, exitCode: 3 });
    const record = await bench.reaches(id, 'failed');
    assert.match(record.reason, /exit code 3/);
    assert.equal(record.attempt, 1);
  });

  test('tries again after an end from outside, up to the last attempt', async () => {
    const id = await bench.submit({ hang: true }, { maxAttempts: 2 });
    for (const attempt of [1, 2]) {
      await bench.comes(id, `ran as attempt ${attempt}`, runsAs(attempt));
      bench.rayWorker.kill(id, attempt);
    }
    const record = await bench.reaches(id, 'failed');
    assert.match(record.reason, /attempt 2, program fault 2 of at most 2/);
    assert.equal(bench.rayWorker.overlaps(), 0);
  });

  test('cancels a running experiment once its driver is gone', async () => {
    const id = await bench.submit({ hang: true });
    await bench.reaches(id, 'running');
    assert.equal(await bench.store.experiments.cancel(id, 'test'), 'cancelling');
    await bench.reaches(id, 'cancelled');
    assert.ok(!bench.rayWorker.running().some((line) => line.experiment === id));
    const entries = await bench.store.events.read(id, undefined, 1000);
    assert.ok(entries.some(({ event }) => event.type === 'ended' && event.cause === 'stopped'));
  });

  test('launches once although the answer is lost', async () => {
    bench.rayWorker.launchFault = 'lose-answer';
    const id = await bench.submit({ steps: 3 });
    await until(
      () => bench.rayWorker.launches().some((line) => line.experiment === id),
      'the launch had its effect',
    );
    bench.rayWorker.launchFault = 'none';
    await bench.reaches(id, 'succeeded');
    assert.equal(bench.rayWorker.launches().filter((line) => line.experiment === id).length, 1);
  });

  test('a dispatcher fails an experiment whose launch is refused for good', async () => {
    bench.rayWorker.launchFault = 'invalid';
    const id = await bench.submit({});
    const record = await bench.reaches(id, 'failed');
    bench.rayWorker.launchFault = 'none';
    assert.match(record.reason, /INVALID_ARGUMENT/);
  });

  test('resumes broken streams without losing or doubling an event', async () => {
    const id = await bench.submit({ steps: ENDLESS, delayMs: 2 });
    const lastSequence = async () => (await bench.store.attempts.list(id))[0]?.lastSequence ?? 0;
    for (let breaks = 0; breaks < 10; breaks += 1) {
      const seen = await lastSequence();
      await until(async () => (await lastSequence()) > seen + 5, 'more events arrive');
      bench.rayWorker.breakStreams();
    }
    bench.rayWorker.finish(id);
    await bench.reaches(id, 'succeeded');
    assert.equal(await assertWholeStream(bench.store, id, 1), bench.rayWorker.sent(id, 1));
  });

  test('starts an experiment whose job was never added', async () => {
    const id = await bench.submit({}, { enqueue: false });
    await bench.reaches(id, 'succeeded');
  });

  test('starts a new attempt after the cluster has forgotten one', async () => {
    const id = await bench.submit({ hang: true });
    await bench.reaches(id, 'running');
    bench.rayWorker.forget();
    await bench.comes(id, 'ran as attempt 2', runsAs(2));
    await bench.store.experiments.cancel(id, 'test');
    await bench.reaches(id, 'cancelled');
  });
});

describe('a queue longer than the free room', () => {
  let bench: Bench;
  before(async () => {
    bench = await startBench({ cpus: 2 });
    await bench.dispatcher();
    await bench.dispatcher({ id: 'second' });
  });
  after(() => bench.stop());

  test('starts in order and within the room with two dispatchers', async () => {
    const ids = [];
    for (let index = 0; index < 12; index += 1) ids.push(await bench.submit({ steps: 2, delayMs: 5 }));
    const large = await bench.submit({ steps: 1 }, { cpus: 2, priority: 5 });
    for (const id of [...ids, large]) await bench.reaches(id, 'succeeded');
    const order = bench.rayWorker.launches().map((line) => line.experiment);
    assert.equal(order.length, 13);
    assert.ok(order.indexOf(large) < 12, 'the large one of higher priority was not starved');
    assert.equal(bench.rayWorker.overlaps(), 0);
  });

  test('a queue longer than the free room gives an experiment that can never fit its wait reason, and starts others', async () => {
    const giant = await bench.submit({}, { cpus: 99 });
    const small = await bench.submit({});
    await bench.reaches(small, 'succeeded');
    const item = await until(
      async () => (await bench.store.queue.first(10)).find((w) => w.experiment === giant && w.reason),
      'a reason is given',
    );
    assert.match(item.reason ?? '', /can never fit/);
    assert.equal(await bench.store.experiments.cancel(giant, 'test'), 'cancelled');
    await bench.queue.remove([giant]);
    assert.equal(await bench.queue.queues[0]!.getJob(giant), undefined);
  });
});
