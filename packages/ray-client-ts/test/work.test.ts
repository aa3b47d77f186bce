import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { actorClass, functionRef } from '../src/code.ts';
import { connect } from '../src/connect.ts';
import type { RayConnection } from '../src/connection.ts';
import { RayRequestError, RayTimeoutError } from '../src/errors.ts';
import type { CallLimits } from '../src/limits.ts';
import { writePickle } from '../src/pickle/writer.ts';
import { type FakeRay, type FakeRayOptions, startFakeRay } from './support/fake-ray.ts';

const fn = functionRef('m:f');
const Class = actorClass('m:C');
const reason = new Error('no longer wanted');

async function withRay(
  options: FakeRayOptions,
  use: (ray: RayConnection, fake: FakeRay) => Promise<void>,
): Promise<void> {
  await using fake = await startFakeRay(options);
  await using ray = await connect(fake.address, { selfTest: false });
  await use(ray, fake);
}

test('every method that waits rejects with the reason of an aborted signal, and sends nothing', async () => {
  await withRay({}, async (ray, fake) => {
    const ref = await ray.put(1);
    const actor = await ray.createActor(Class);
    const sent = fake.received.length;
    const limits: CallLimits = { signal: AbortSignal.abort(reason) };
    const waiting: Record<string, () => Promise<unknown>> = {
      put: () => ray.put(1, limits),
      get: () => ray.get(ref, limits),
      'get of many': () => ray.get([ref, ref], limits),
      wait: () => ray.wait([ref], limits),
      asCompleted: () => ray.asCompleted([ref], limits).next(),
      task: () => ray.task(fn, limits),
      call: () => ray.call(fn, limits),
      cancel: () => ray.cancel(ref, limits),
      createActor: () => ray.createActor(Class, limits),
      getActor: () => ray.getActor('name', limits),
      namedActors: () => ray.namedActors(limits),
      createPlacementGroup: () => ray.createPlacementGroup([{ CPU: 1 }], limits),
      getPlacementGroup: () => ray.getPlacementGroup('name', limits),
      nodes: () => ray.nodes(limits),
      clusterResources: () => ray.clusterResources(limits),
      availableResources: () => ray.availableResources(limits),
      availableResourcesPerNode: () => ray.availableResourcesPerNode(limits),
      dashboardUrl: () => ray.dashboardUrl(limits),
      uploadPackage: () => ray.uploadPackage(Buffer.from('zip'), limits),
      'kv.get': () => ray.kv.get('k', limits),
      'kv.put': () => ray.kv.put('k', 'v', limits),
      'actor.call': () => actor.call('m', limits),
      'actor.submit': () => actor.submit('m', limits),
      'actor.ready': () => actor.ready(limits),
      'actor.kill': () => actor.kill(limits),
    };
    for (const [name, act] of Object.entries(waiting)) await assert.rejects(act, reason, name);
    assert.equal(fake.received.length, sent);
    assert.equal(fake.kv.size, 0);
  });
});

describe('a signal that is aborted while a method waits', () => {
  test('a signal that is aborted while a method waits ends the wait at once', async () => {
    await withRay({}, async (ray) => {
      const stop = new AbortController();
      const limits = { signal: stop.signal };
      const late = await ray.task(fn);
      const waiting = [ray.get(late, limits), ray.get([late, late], limits), ray.call(fn, limits)];
      const refused = waiting.map((promise) => assert.rejects(promise, reason));
      stop.abort(reason);
      await Promise.all(refused);
    });
  });

  test('a signal that is aborted while an actor is created releases the actor', async () => {
    const stop = new AbortController();
    const run = () => {
      stop.abort(reason);
      return undefined;
    };
    await withRay({ run }, async (ray, fake) => {
      await assert.rejects(ray.createActor(Class, { signal: stop.signal }), reason);
      while (!fake.received.some((message) => message.release)) await new Promise(setImmediate);
    });
  });

  test('a task whose signal is aborted is not sent after its code', async () => {
    const stop = new AbortController();
    const breakBefore = (message: { put?: unknown }) => {
      if (message.put) stop.abort(reason);
      return false;
    };
    await withRay({ breakBefore }, async (ray, fake) => {
      await assert.rejects(ray.task(fn, { signal: stop.signal }), reason);
      await ray.put(1);
      assert.equal(fake.ran(), 0);
    });
  });
});

test('a time limit covers the call, and the session is in order afterwards', async () => {
  const run = (task: { name?: string | null }) => (task.name === 'm:slow' ? undefined : writePickle(1));
  await withRay({ run }, async (ray) => {
    await assert.rejects(ray.call(functionRef('m:slow'), { timeoutMs: 20 }), RayTimeoutError);
    assert.equal(await ray.call(fn), 1);
  });
});

test('a node that is required and not there is refused; with a soft affinity Ray decides', async () => {
  await withRay({ run: () => writePickle(1) }, async (ray, fake) => {
    const refused = ray.call(fn, { schedulingStrategy: { nodeId: 'ff' } });
    await assert.rejects(refused, (error) => error instanceof RayRequestError && /ff/.test(error.message));
    assert.equal(fake.ran(), 0);
    assert.equal(await ray.call(fn, { schedulingStrategy: { nodeId: 'ff', soft: true } }), 1);
  });
});
