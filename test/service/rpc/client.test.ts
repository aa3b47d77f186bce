import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { constants, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { newExperimentId } from '../../../src/core/ids.ts';
import type { LaunchPlan } from '../../../src/core/launch-plan.ts';
import { createRayWorkerClient } from '../../../src/rpc/client.ts';
import type { RayWorkerClient } from '../../../src/rpc/ray-worker.ts';
import { RayWorkerError } from '../../../src/rpc/status.ts';
import { type FakeDriver, fakeArguments } from '../../support/fake-driver.ts';
import { type FakeRayWorker, startFakeRayWorker } from '../../support/fake-ray-worker.ts';

const fault = (name: string) => (error: unknown) => error instanceof RayWorkerError && error.fault === name;

const plan = (driver: FakeDriver): LaunchPlan => ({
  engine: 'replay',
  module: 'fake',
  arguments: fakeArguments(driver),
  environment: {},
  gpus: 0,
  cpus: 1,
  gracePeriodMs: 100,
  files: { 'a.txt': 'text', b: new Uint8Array([1]) },
});

describe('the client of a ray-worker', () => {
  let directory: string;
  let rayWorker: FakeRayWorker;
  let client: RayWorkerClient;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'echelon-client-'));
    rayWorker = await startFakeRayWorker({ directory });
    client = createRayWorkerClient({ address: rayWorker.address, token: rayWorker.token, ca: null });
  });
  after(async () => {
    client.close();
    await rayWorker.stop();
    await rm(directory, { recursive: true, force: true });
  });

  test('makes an idempotent call without an answer three times in all', async (t) => {
    let calls = 0;
    rayWorker.onLaunch = async () => {
      calls += 1;
      rayWorker.launchFault = calls < 3 ? 'unavailable' : 'none';
    };
    t.after(() => {
      rayWorker.onLaunch = async () => {};
      rayWorker.launchFault = 'none';
    });
    assert.deepEqual(await client.launch(newExperimentId(), 1, plan({})), { outcome: 'started' });
    assert.equal(calls, 3);
    calls = -100;
    await assert.rejects(client.launch(newExperimentId(), 1, plan({})), fault('unreachable'));
    assert.equal(calls, -97);
  });

  /* Fails where RESOURCE_EXHAUSTED is always a full disk: nothing is repeated, and a launch loses one of its tries. */
  test('repeats a call whose stream was closed with ENHANCE_YOUR_CALM, and reports that no server answers', async (t) => {
    let calls = 0;
    const server = createServer().on('stream', (stream) => {
      calls += 1;
      stream.on('error', () => {});
      stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const calmed = createRayWorkerClient({ address: `127.0.0.1:${port}`, token: 't', ca: null });
    t.after(() => {
      calmed.close();
      server.close();
    });
    await assert.rejects(calmed.launch(newExperimentId(), 1, plan({})), fault('unreachable'));
    assert.equal(calls, 3);
    const events = calmed.attach(newExperimentId(), 1, 0, new AbortController().signal);
    await assert.rejects(Array.fromAsync(events), fault('unreachable'));
  });

  test('knows a cluster without disk, and repeats nothing there by itself', async (t) => {
    rayWorker.launchFault = 'exhausted';
    t.after(() => {
      rayWorker.launchFault = 'none';
    });
    await assert.rejects(client.launch(newExperimentId(), 1, plan({})), fault('exhausted'));
  });

  test('the client of a ray-worker refuses a request that is larger than a message may be', async () => {
    const large = { ...plan({}), files: { large: new Uint8Array(4 * 1024 * 1024) } };
    await assert.rejects(client.launch(newExperimentId(), 1, large), fault('invalid'));
  });

  test('repeats nothing that was refused', async (t) => {
    let calls = 0;
    rayWorker.onLaunch = async () => {
      calls += 1;
    };
    rayWorker.launchFault = 'invalid';
    t.after(() => {
      rayWorker.onLaunch = async () => {};
      rayWorker.launchFault = 'none';
    });
    await assert.rejects(client.launch(newExperimentId(), 1, plan({})), fault('invalid'));
    assert.equal(calls, 1);
  });

  test('cancels a call by its signal, before and during it', async (t) => {
    await assert.rejects(client.describe(AbortSignal.abort()), fault('aborted'));
    const arrived = Promise.withResolvers<void>();
    rayWorker.onLaunch = async () => arrived.resolve();
    rayWorker.launchFault = 'never-answer';
    t.after(() => {
      rayWorker.onLaunch = async () => {};
      rayWorker.launchFault = 'none';
    });
    const given = new AbortController();
    const call = client.launch(newExperimentId(), 1, plan({}), given.signal);
    await arrived.promise;
    given.abort();
    await assert.rejects(call, fault('aborted'));
  });

  // Fails where a call is opened outside the one place that maps errors: the attempt would be left because of a fault.
  test('the client of a ray-worker says unreachable when it was closed before a call', async () => {
    const { address, token } = rayWorker;
    const closed = createRayWorkerClient({ address, token, ca: null, tries: 1 });
    closed.close();
    const events = closed.attach(newExperimentId(), 1, 0, new AbortController().signal);
    await assert.rejects(Array.fromAsync(events), fault('unreachable'));
    await assert.rejects(closed.describe(), fault('unreachable'));
  });

  test('the client of a ray-worker does not read ahead of a slow consumer', async () => {
    const id = newExperimentId();
    const parts = 200;
    await client.launch(id, 1, plan({ steps: parts, batchBytes: 500_000, delayMs: 0 }));
    const total = 2 + parts * 3;
    let seen = 0;
    let most = 0;
    for await (const { sequence } of client.attach(id, 1, 0, new AbortController().signal)) {
      seen += 1;
      assert.equal(sequence, seen);
      // A turn of the event loop for each event: without back pressure all would have been sent by the first few.
      await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, rayWorker.sent(id, 1) - seen);
    }
    assert.equal(seen, total);
    assert.ok(most < total / 4, `${most} of ${total} were on their way`);
  });

  test('the client of a ray-worker says of a ray-worker that is away that it is unreachable', async () => {
    const absent = createRayWorkerClient({ address: '127.0.0.1:1', token: 'x', ca: null, tries: 1 });
    await assert.rejects(absent.describe(), fault('unreachable'));
    await assert.rejects(async () => {
      for await (const _ of absent.attach('exp-a', 1, 0, new AbortController().signal)) assert.fail();
    }, fault('unreachable'));
    absent.close();
  });

  test('the client of a ray-worker finds a ray-worker again that was away', async () => {
    await client.describe();
    await rayWorker.down();
    await assert.rejects(client.describe(), fault('unreachable'));
    await rayWorker.up();
    for (;;) {
      const answer = await client.describe().catch((error: RayWorkerError) => error);
      if (!(answer instanceof RayWorkerError)) break;
      assert.equal(answer.fault, 'unreachable');
    }
  });
});
