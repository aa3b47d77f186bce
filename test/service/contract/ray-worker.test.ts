import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { NumberedEvent } from '../../../src/core/events.ts';
import { newExperimentId } from '../../../src/core/ids.ts';
import type { LaunchPlan } from '../../../src/core/launch-plan.ts';
import { createRayWorkerClient, type RayWorkerAccess } from '../../../src/rpc/client.ts';
import type { RayWorkerClient } from '../../../src/rpc/ray-worker.ts';
import { RayWorkerError, type RayWorkerFault } from '../../../src/rpc/status.ts';
import { until } from '../../support/dispatch.ts';
import { type FakeDriver, fakeArguments } from '../../support/fake-driver.ts';
import { startFakeRayWorker } from '../../support/fake-ray-worker.ts';
import { pythonDriver, startPythonRayWorker } from '../../support/python-ray-worker.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

interface Implementation {
  address: string;
  token: string;
  stop(): Promise<void>;
}

const IMPLEMENTATIONS: Record<
  string,
  {
    start(directory: string): Promise<Implementation>;
    driver(driver: FakeDriver): Pick<LaunchPlan, 'module' | 'arguments' | 'environment'>;
  }
> = {
  'the fake ray-worker': {
    start: (directory) => startFakeRayWorker({ directory }),
    driver: (driver) => ({ module: 'fake', arguments: fakeArguments(driver), environment: {} }),
  },
  'the ray-worker': { start: startPythonRayWorker, driver: pythonDriver },
};

const never = new AbortController().signal;

async function collect(events: AsyncIterable<NumberedEvent>): Promise<NumberedEvent[]> {
  const all = [];
  for await (const event of events) all.push(event);
  return all;
}

const failsWith = (fault: RayWorkerFault) => (error: unknown) =>
  error instanceof RayWorkerError && error.fault === fault;

for (const [name, implementation] of Object.entries(IMPLEMENTATIONS))
  describe(`the client and ${name}`, () => {
    let directory: string;
    let rayWorker: Implementation;
    let client: RayWorkerClient;
    before(async () => {
      directory = await mkdtemp(join(tmpdir(), 'echelon-rpc-'));
      rayWorker = await implementation.start(directory);
      client = connect(rayWorker.address);
    });
    after(async () => {
      client.close();
      await rayWorker.stop();
      await rm(directory, { recursive: true, force: true });
    });

    const connect = (address: string, options: Partial<RayWorkerAccess> = {}): RayWorkerClient =>
      createRayWorkerClient({ address, token: rayWorker.token, ca: null, ...options });
    const plan = (driver: FakeDriver): LaunchPlan => ({
      engine: 'replay',
      gpus: 0,
      cpus: 1,
      gracePeriodMs: 2_000,
      files: {},
      ...implementation.driver(driver),
    });
    const attach = (id: string, attempt = 1, from = 0) => collect(client.attach(id, attempt, from, never));

    test('a preflight answers with findings that are whole, and launches nothing', async () => {
      const module = 'echelon_rayworker.engines.replay';
      const asked = [null, { ...plan({}), module, arguments: ['batches=x'] }] as const;
      for (const one of asked) {
        const findings = await client.preflight(one, 60_000);
        assert.ok(findings.length > 0);
        for (const { check, severity, message, remedy } of findings) {
          assert.ok(check && message && ['ok', 'warning', 'error'].includes(severity));
          assert.ok(severity === 'ok' || remedy !== '');
        }
      }
      assert.ok((await client.list()).every(({ lastSequence }) => lastSequence > 0));
    });

    test('says who answers and what the cluster has', async () => {
      const description = await client.describe();
      assert.match(description.version, /^\d+\.\d+\.\d+/);
      assert.notEqual(description.generation, '');
      assert.ok(description.nodes.some((node) => node.alive && node.cpusTotal > 0));
    });

    test('refuses another token', async (t) => {
      const stranger = connect(rayWorker.address, { token: 'wrong' });
      t.after(() => stranger.close());
      await assert.rejects(stranger.describe(), failsWith('denied'));
      await assert.rejects(collect(stranger.attach(newExperimentId(), 1, 0, never)), failsWith('denied'));
    });

    test('launches an attempt once and streams it from any point to its end', async () => {
      const id = newExperimentId();
      assert.deepEqual(await client.launch(id, 1, plan({ steps: 3 })), { outcome: 'started' });
      const events = await attach(id);
      assert.deepEqual(
        events.map(({ sequence }) => sequence),
        events.map((_, index) => index + 1),
      );
      assert.equal(events[0]?.event.type, 'started');
      const ended = events.at(-1)?.event;
      assert.ok(ended?.type === 'ended' && ended.cause === 'succeeded' && ended.exitCode === 0);
      assert.equal(events.filter(({ event }) => event.type === 'metrics').length, 3);
      assert.deepEqual(await attach(id, 1, 2), events.slice(2));
      assert.deepEqual(await client.launch(id, 1, plan({})), { outcome: 'already-ended' });
    });

    test('says that an attempt runs already', async () => {
      const id = newExperimentId();
      await client.launch(id, 1, plan({ hang: true }));
      assert.deepEqual(await client.launch(id, 1, plan({ hang: true })), {
        outcome: 'already-running',
      });
      const [status] = await client.list(id);
      assert.ok(status?.running && status.attempt === 1 && status.experiment === id);
      await client.stop(id, 1, { gracePeriodMs: 500, reason: 'test' });
    });

    test('forgets what has ended, and never starts it again', async () => {
      const id = newExperimentId();
      await client.launch(id, 1, plan({}));
      await attach(id);
      assert.deepEqual(await client.forget(id, 1), { forgotten: 1 });
      assert.deepEqual(await client.forget(id, 1), { forgotten: 0 });
      await assert.rejects(attach(id), failsWith('unknown-attempt'));
      assert.equal((await client.launch(id, 1, plan({}))).outcome, 'fenced');
      assert.deepEqual(await client.list(id), []);
      assert.deepEqual(await client.forget(newExperimentId(), 3), { forgotten: 0 });
    });

    test('carries how a driver ended', async () => {
      const id = newExperimentId();
      await client.launch(id, 1, plan({ exitCode: 7 }));
      const ended = (await attach(id)).at(-1)?.event;
      assert.ok(ended?.type === 'ended' && ended.cause === 'failed' && ended.exitCode === 7);
    });

    test('carries batches whole', async () => {
      const id = newExperimentId();
      await client.launch(id, 1, plan({ steps: 2, batchBytes: 1_500_000 }));
      const parts = new Map<number, NumberedEvent[]>();
      for (const numbered of await attach(id))
        if (numbered.event.type === 'batch') {
          const { batch } = numbered.event;
          parts.set(batch, [...(parts.get(batch) ?? []), numbered]);
        }
      assert.deepEqual([...parts.keys()], [1, 2]);
      for (const list of parts.values()) {
        const bytes = Buffer.concat(list.map(({ data }) => data ?? new Uint8Array()));
        const digest = createHash('sha256').update(bytes).digest('hex');
        assert.equal(bytes.length, 1_500_000);
        for (const [index, { event, data }] of list.entries()) {
          assert.ok(event.type === 'batch' && data);
          assert.ok(data.length < 1024 * 1024);
          assert.deepEqual([event.index, event.count, event.digest], [index, list.length, digest]);
        }
      }
    });

    test('refuses what cannot be attached to', async () => {
      await assert.rejects(attach(newExperimentId()), failsWith('unknown-attempt'));
      const id = newExperimentId();
      await client.launch(id, 1, plan({}));
      await attach(id);
      await assert.rejects(attach(id, 1, 1_000), failsWith('ahead'));
    });

    test('fences a launch that comes after the stop, and lower ones', async () => {
      const id = newExperimentId();
      const options = { gracePeriodMs: 0, reason: 'cancelled' };
      assert.deepEqual(await client.stop(id, 2, options), { dropped: true, ended: null });
      assert.deepEqual(await client.stop(id, 2, options), { dropped: true, ended: null });
      for (const attempt of [2, 1]) {
        const answer = await client.launch(id, attempt, plan({}));
        assert.equal(answer.outcome, 'fenced');
      }
      assert.deepEqual(await client.launch(id, 3, plan({})), { outcome: 'started' });
      const lower = await client.launch(id, 2, plan({}));
      assert.equal(lower.outcome, 'fenced');
    });

    test('stops a driver, and says so each time it is asked', async () => {
      const id = newExperimentId();
      await client.launch(id, 1, plan({ hang: true }));
      const following = attach(id);
      for (let times = 0; times < 2; times += 1) {
        const stopped = await client.stop(id, 1, { gracePeriodMs: 1_000, reason: 'test' });
        assert.equal(stopped.dropped, false);
        assert.equal(stopped.ended?.cause, 'stopped');
      }
      const ended = (await following).at(-1)?.event;
      assert.ok(ended?.type === 'ended' && ended.cause === 'stopped');
    });

    test('ends a stream without an error when its reader gives it up', async () => {
      const id = newExperimentId();
      await client.launch(id, 1, plan({ hang: true }));
      const reader = new AbortController();
      const seen: string[] = [];
      for await (const { event } of client.attach(id, 1, 0, reader.signal)) {
        seen.push(event.type);
        if (event.type === 'metrics') reader.abort();
      }
      assert.ok(seen.includes('started'));
      await client.stop(id, 1, { gracePeriodMs: 500, reason: 'test' });
    });

    // Without keepalive the stream stays open forever and the test runs into its deadline.
    test('notices a half-open connection', { timeout: 60_000 }, async (t) => {
      const { proxied, proxy, id } = await throughProxy(t, { timeMs: 250, timeoutMs: 1_000 });
      const broken = assert.rejects(collect(proxied.attach(id, 1, 0, never)), failsWith('unreachable'));
      proxy.freeze();
      await broken;
    });

    test('does not have an idle stream closed for its pings', { timeout: 60_000 }, async (t) => {
      const { proxied, proxy, id } = await throughProxy(t, { timeMs: 250, timeoutMs: 30_000 });
      const following = collect(proxied.attach(id, 1, 0, never));
      const before = proxy.received();
      // A ping is 17 bytes on the wire.
      await until(() => proxy.received() - before > 12 * 17, 'a dozen pings were sent');
      await client.stop(id, 1, { gracePeriodMs: 500, reason: 'test' });
      assert.equal((await following).at(-1)?.event.type, 'ended');
    });

    async function throughProxy(t: TestContext, keepalive: RayWorkerAccess['keepalive']) {
      const proxy = await startTcpProxy(rayWorker.address);
      const proxied = connect(proxy.address, keepalive && { keepalive });
      const id = newExperimentId();
      await client.launch(id, 1, plan({ hang: true, steps: 1 }));
      const reader = new AbortController();
      for await (const _ of proxied.attach(id, 1, 0, reader.signal)) reader.abort();
      t.after(async () => {
        proxied.close();
        await proxy.stop();
        await client.stop(id, 1, { gracePeriodMs: 500, reason: 'test' });
      });
      return { proxied, proxy, id };
    }
  });
