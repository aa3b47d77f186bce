import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createRayWorkerClient } from '../../../src/rpc/client.ts';
import { assertWholeStream, type Bench, runsAs, startBench, until } from '../../support/dispatch.ts';
import { LEASE_MS, startDispatcherProcess } from '../../support/dispatcher-processes.ts';
import { ENDLESS } from '../../support/fake-driver.ts';

const lastSequence = async (bench: Bench, id: string) =>
  (await bench.store.attempts.list(id)).at(-1)?.lastSequence ?? 0;

const launchesOf = (bench: Bench, id: string) =>
  bench.rayWorker.launches().filter((line) => line.experiment === id);

const PLAN = {
  engine: 'replay',
  module: 'fake',
  environment: {},
  gpus: 0,
  cpus: 1,
  gracePeriodMs: 0,
  files: {},
};

describe('a dispatcher that dies, freezes or leaves', () => {
  let bench: Bench;
  before(async () => {
    bench = await startBench();
  });
  after(() => bench.stop());

  const underWay = (id: string) =>
    until(async () => (await lastSequence(bench, id)) > 50, 'the training is under way');

  /** Lets the one driver that it had finish; all that it told is there. */
  async function endsWhole(id: string): Promise<void> {
    bench.rayWorker.finish(id);
    await bench.reaches(id, 'succeeded');
    assert.equal(await assertWholeStream(bench.store, id, 1), bench.rayWorker.sent(id, 1));
    assert.deepEqual(launchesOf(bench, id), [{ experiment: id, attempt: 1 }]);
  }

  // Without takeOver the stream stops; with a claim anew instead of an attach there are two launches.
  test('killed during training: another dispatcher attaches, with one launch and no lost or duplicate event', async (t) => {
    const first = await startDispatcherProcess(bench, t, { id: 'first' });
    const id = await bench.submit({ steps: ENDLESS, delayMs: 20, batchBytes: 2_000 });
    await underWay(id);
    first.kill('SIGKILL');
    await first.exited;
    const before = await lastSequence(bench, id);
    assert.equal((await bench.store.experiments.get(id))?.state, 'running');
    await startDispatcherProcess(bench, t, { id: 'second' });
    await until(async () => (await lastSequence(bench, id)) > before, 'the second one attached');
    await endsWhole(id);
  });

  // Without the lease token on every write, the thawed one would append or end beside the second.
  test('frozen for three lease times and thawed: nothing changes', async (t) => {
    const first = await startDispatcherProcess(bench, t, { id: 'first' });
    const id = await bench.submit({ steps: ENDLESS, delayMs: 20 });
    await underWay(id);
    first.kill('SIGSTOP');
    await startDispatcherProcess(bench, t, { id: 'second' });
    const frozen = performance.now();
    const at = await lastSequence(bench, id);
    await until(
      async () => performance.now() - frozen > 3 * LEASE_MS && (await lastSequence(bench, id)) > at,
      'three lease times pass and the second one records events',
    );
    first.kill('SIGCONT');
    await first.idle();
    await endsWhole(id);
    const states = (await bench.store.events.read(id, undefined, 10_000)).flatMap(({ event }) =>
      event.type === 'state' ? [event.to] : [],
    );
    assert.deepEqual(states, ['queued', 'launching', 'running', 'succeeded']);
  });

  // If a launch of an attempt could start twice, the thawed one would start a driver of a cancelled experiment.
  test('frozen before Launch, taken over, cancelled, thawed: no driver starts any more', async (t) => {
    const first = await startDispatcherProcess(bench, t, { id: 'first', holdBeforeLaunch: true });
    const id = await bench.submit({ hang: true });
    await first.says('before-launch');
    first.kill('SIGSTOP');
    await startDispatcherProcess(bench, t, { id: 'second' });
    const taken = await bench.reaches(id, 'running');
    assert.equal(taken.attempt, 1);
    assert.equal(await bench.store.experiments.cancel(id, 'test'), 'cancelling');
    await bench.reaches(id, 'cancelled');
    first.tell('launch');
    first.kill('SIGCONT');
    await first.idle();
    // Whether it had noticed in time or was refused: its launch, however late, starts nothing.
    const client = createRayWorkerClient({
      address: bench.rayWorker.address,
      token: bench.rayWorker.token,
      ca: null,
    });
    t.after(async () => client.close());
    const late = await client.launch(id, 1, { ...PLAN, arguments: ['hang=true'] });
    assert.equal(late.outcome, 'already-ended');
    assert.deepEqual(launchesOf(bench, id), [{ experiment: id, attempt: 1 }]);
    assert.deepEqual(
      bench.rayWorker.running().filter((line) => line.experiment === id),
      [],
    );
  });

  test('frozen before Launch, cancelled, then taken over: no driver starts at all', async (t) => {
    const first = await startDispatcherProcess(bench, t, { id: 'first', holdBeforeLaunch: true });
    const id = await bench.submit({ hang: true });
    await first.says('before-launch');
    first.kill('SIGSTOP');
    assert.equal(await bench.store.experiments.cancel(id, 'test'), 'cancelling');
    await startDispatcherProcess(bench, t, { id: 'second' });
    await bench.reaches(id, 'cancelled');
    first.tell('launch');
    first.kill('SIGCONT');
    await first.idle();
    assert.deepEqual(launchesOf(bench, id), []);
  });

  // Fails if the takeover gives the number of the attempt up: the driver would be stopped, and its steps lost.
  test('killed between Launch and its confirmation: the driver continues, and all its events are recorded', async (t) => {
    const first = await startDispatcherProcess(bench, t, { id: 'first' });
    bench.rayWorker.launchFault = 'never-answer';
    const id = await bench.submit({ steps: ENDLESS, delayMs: 20 });
    await until(() => launchesOf(bench, id).length === 1, 'the launch had its effect');
    first.kill('SIGKILL');
    await first.exited;
    bench.rayWorker.launchFault = 'none';
    await startDispatcherProcess(bench, t, { id: 'second' });
    await bench.comes(id, 'ran as attempt 1', runsAs(1));
    await endsWhole(id);
  });

  test('asked to stop: hands over at once, and the training continues', async (t) => {
    const first = await startDispatcherProcess(bench, t, { id: 'first' });
    const id = await bench.submit({ steps: ENDLESS, delayMs: 20 });
    await underWay(id);
    await startDispatcherProcess(bench, t, { id: 'second' });
    first.kill('SIGTERM');
    await first.exited;
    const at = await lastSequence(bench, id);
    await until(async () => (await lastSequence(bench, id)) > at, 'the second one continues');
    await endsWhole(id);
  });

  // Fails if the lease is renewed too late for that, or if another dispatcher can take it over meanwhile.
  test('busy for half of its lease: keeps what it holds', async (t) => {
    const leaseMs = 6_000;
    const busy = await bench.dispatcher({ id: 'busy', times: { leaseMs } });
    t.after(() => busy.stop({ handOver: false }));
    const id = await bench.submit({ steps: ENDLESS, delayMs: 20 });
    await underWay(id);
    await startDispatcherProcess(bench, t, { id: 'second' });
    const expiry = () => bench.redis.zscore('{echelon}:leases', id);
    const renewed = await expiry();
    // From a renewal on, so that on a machine that is itself busy half of the lease is left.
    await until(async () => (await expiry()) !== renewed, 'the lease is renewed');
    // Its event loop stands still.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, leaseMs / 2);
    const at = await lastSequence(bench, id);
    await until(async () => (await lastSequence(bench, id)) > at + 50, 'the training continues');
    assert.equal(await bench.redis.hget(`{echelon}:x:${id}`, 'dispatcher'), 'busy');
    await endsWhole(id);
  });
});
