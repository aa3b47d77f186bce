import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createChannel } from '../src/channel.ts';
import { functionRef } from '../src/code.ts';
import { RayPickleError, RayTimeoutError } from '../src/errors.ts';
import { readPickle } from '../src/pickle/reader.ts';
import { writePickle } from '../src/pickle/writer.ts';
import { Remote } from '../src/remote.ts';
import { startSession } from '../src/session.ts';
import { readCall } from '../src/signatures.ts';
import { type FakeRay, type FakeRayOptions, startFakeRay } from './support/fake-ray.ts';

const OPTIONS = { namespace: 'n', graceMs: 10_000, timeoutMs: 10_000, runtimeEnv: undefined, packages: [] };
const fn = functionRef('m:f');

async function withRemote(options: FakeRayOptions, use: (remote: Remote, ray: FakeRay) => Promise<void>) {
  await using ray = await startFakeRay(options);
  const channel = createChannel({ address: ray.address });
  const { dataPath, clientId } = await startSession(channel, OPTIONS);
  try {
    await use(new Remote({ channel, dataPath, clientId, kill: async () => {} }), ray);
  } finally {
    await dataPath.close();
    channel.close();
  }
}

const argumentsOf = (data: Uint8Array): unknown[] => {
  const pair = readPickle(data) as { items: [unknown[], unknown] };
  return pair.items[0];
};

describe('tasks and objects', () => {
  test('a value put is the value got; the reference is released once', async () => {
    await withRemote({}, async (remote, ray) => {
      const ref = await remote.put({ a: [1, 'x'] });
      assert.deepEqual(await remote.get(ref), { a: [1, 'x'] });
      await remote.release(ref);
      await remote.release(ref);
      assert.equal(ray.received.filter((message) => message.release).length, 1);
      await assert.rejects(remote.get(ref), RayPickleError);
    });
  });

  test('code is put once per session, and again after a failure', async () => {
    await withRemote({ run: () => writePickle(1) }, async (remote, ray) => {
      await Promise.all([remote.task(fn, readCall([])), remote.task(fn, readCall([]))]);
      assert.equal(ray.received.filter((message) => message.put).length, 1);
    });
  });

  test('arguments arrive as (args, kwargs), with references by name', async () => {
    let seen: unknown[] = [];
    const run = (_: unknown, data: Uint8Array): Uint8Array => {
      seen = argumentsOf(data);
      return writePickle(null);
    };
    await withRemote({ run }, async (remote) => {
      const ref = await remote.put(1);
      await remote.task(fn, readCall([[5, ref]]));
      assert.equal(seen[0], 5);
      assert.equal((seen[1] as object).constructor.name, 'PyPersistentId');
    });
  });

  test('a reference of another connection is refused before anything is sent', async () => {
    await withRemote({}, async (one) => {
      const ref = await one.put(1);
      await withRemote({}, async (other, ray) => {
        await assert.rejects(other.task(fn, readCall([[ref]])), RayPickleError);
        assert.equal(ray.ran(), 0);
      });
    });
  });

  test('two callers that wait for one object ask once', async () => {
    await withRemote({}, async (remote, ray) => {
      const ref = await remote.put('v');
      assert.deepEqual(await Promise.all([remote.get(ref), remote.get(ref)]), ['v', 'v']);
      assert.equal(ray.received.filter((message) => message.get).length, 1);
    });
  });

  test('a call releases its result', async () => {
    await withRemote({ run: () => writePickle(3) }, async (remote) => {
      const actor = await remote.getActor('a', 'n');
      assert.equal(await remote.call(actor, 'm', readCall([])), 3);
      assert.equal(remote.references.size, 1, 'the actor alone');
    });
  });

  test('a timeout leaves the session in order', async () => {
    await withRemote(
      { run: (task) => (task.name === 'slow' ? undefined : writePickle(1)) },
      async (remote) => {
        const actor = await remote.getActor('a', 'n');
        const slow = remote.call(actor, 'slow', readCall([{ timeoutMs: 20 }]));
        await assert.rejects(slow, RayTimeoutError);
        assert.equal(await remote.call(actor, 'quick', readCall([])), 1);
      },
    );
  });
});

test('calls of one handle go out in the order made', async () => {
  const order: unknown[] = [];
  const run = (task: { name?: string | null }, data: Uint8Array): Uint8Array => {
    if (task.name === 'm') order.push(argumentsOf(data)[0]);
    return writePickle(null);
  };
  await withRemote({ run }, async (remote) => {
    const actor = await remote.getActor('a', 'n');
    const calls = Array.from({ length: 50 }, (_, index) => remote.call(actor, 'm', readCall([[index]])));
    await Promise.all(calls);
    assert.deepEqual(
      order,
      Array.from({ length: 50 }, (_, index) => index),
    );
  });
});
