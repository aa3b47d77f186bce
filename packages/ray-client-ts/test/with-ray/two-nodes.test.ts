// Tests on a Ray of two nodes without a token. The last one kills its head.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { actorClass, functionRef, sourceActorClass } from '../../src/code.ts';
import { answersWithoutToken, connect } from '../../src/connect.ts';
import type { RayConnection } from '../../src/connection.ts';
import {
  RayError,
  RayPythonError,
  RayRequestError,
  RaySessionLostError,
  RayTimeoutError,
} from '../../src/errors.ts';
import { type RayHead, startRayHead } from '../support/ray-head.ts';

const nodeId = functionRef<() => string>('probe:node_id');
const nap = functionRef<(seconds: number) => string>('probe:nap_on_node');
const Where = sourceActorClass<{ where(): string }, []>(
  'import ray\nclass Where:\n    def where(self):\n        return ray.get_runtime_context().get_node_id()\n',
  'Where',
);
const limit = { timeoutMs: 90_000 };

let head: RayHead;
let ray: RayConnection;
/** Ids of the head (2 CPUs) and of the other node (4 CPUs). */
let headId: string;
let otherId: string;
before(async () => {
  head = await startRayHead({
    token: false,
    pythonPath: ['packages/ray-client-ts/test/with-ray/python'],
    numCpus: 2,
    nodes: [{ cpus: 4 }],
  });
  ray = await connect(head.address, { namespace: 'tests', reconnectGraceMs: 3_000, selfTest: false });
  for (;;) {
    const nodes = (await ray.nodes()).filter((node) => node.alive);
    const other = nodes.find((node) => !node.isHead);
    if (other === undefined) {
      await sleep(100);
      continue;
    }
    headId = nodes.find((node) => node.isHead)?.id ?? '';
    otherId = other.id;
    return;
  }
});
after(async () => {
  await ray?.close();
  await head?.[Symbol.asyncDispose]();
});

test('a head without a token is open to anyone, and a needless token does no harm', async () => {
  assert.equal(await answersWithoutToken(head.address), true);
  await using session = await connect(head.address, { token: 'needless', selfTest: false });
  assert.equal(await session.call(functionRef('posixpath:join'), ['a', 'b'], limit), 'a/b');
  assert.equal((await session.nodes()).length, 2);
});

describe('node affinity', () => {
  test('a task and an actor with a hard affinity run on the named node', async () => {
    for (const id of [headId, otherId]) {
      const schedulingStrategy = { nodeId: id };
      assert.equal(await ray.call(nodeId, { schedulingStrategy, ...limit }), id);
      const actor = await ray.createActor(Where, { schedulingStrategy, numCpus: 0 });
      assert.equal(await actor.call('where', limit), id);
      await actor.kill();
    }
  });

  test('a soft affinity prefers its node, and does without a node that is gone', async () => {
    const there = { nodeId: otherId, soft: true };
    assert.equal(await ray.call(nodeId, { schedulingStrategy: there, ...limit }), otherId);
    const gone = { nodeId: 'ab'.repeat(28), soft: true };
    const id = await ray.call(nodeId, { schedulingStrategy: gone, ...limit });
    assert.ok([headId, otherId].includes(id));
  });

  test('a hard affinity to a node that is gone is refused', async () => {
    const refused = ray.createActor(Where, { schedulingStrategy: { nodeId: 'ff'.repeat(28) } });
    await assert.rejects(refused, (error) => {
      return error instanceof RayRequestError && /no live node ffff/.test(error.message);
    });
  });
});

test('SPREAD uses both nodes', async () => {
  const options = { schedulingStrategy: 'SPREAD', numCpus: 1, ...limit } as const;
  const ids = await Promise.all(Array.from({ length: 6 }, () => ray.call(nap, [0.5], options)));
  assert.deepEqual(new Set(ids), new Set([headId, otherId]));
});

describe('a placement group', () => {
  test('STRICT_SPREAD puts its bundles on different nodes, and tasks and actors run in a bundle', async () => {
    const group = await ray.createPlacementGroup([{ CPU: 1 }, { CPU: 1 }], { strategy: 'STRICT_SPREAD' });
    await group.ready(limit);
    const inBundle = (bundle: number) => ({
      schedulingStrategy: { placementGroup: group, bundle },
      numCpus: 1,
    });
    const [first, second] = await Promise.all([
      ray.call(nodeId, { ...inBundle(0), ...limit }),
      ray.call(nodeId, { ...inBundle(1), ...limit }),
    ]);
    assert.deepEqual(new Set([first, second]), new Set([headId, otherId]));
    const actor = await ray.createActor(Where, inBundle(1));
    assert.equal(await actor.call('where', limit), second);
    await actor.kill();
    await group.remove(limit);
  });

  test('STRICT_PACK puts its bundles on one node with room for all', async () => {
    const group = await ray.createPlacementGroup([{ CPU: 2 }, { CPU: 2 }], { strategy: 'STRICT_PACK' });
    await group.ready(limit);
    const schedulingStrategy = { placementGroup: group };
    assert.equal(await ray.call(nodeId, { schedulingStrategy, ...limit }), otherId);
    await group.remove(limit);
  });

  test('a placement group holds its CPUs until it is removed, and a second group is not ready meanwhile', async () => {
    const whole = await ray.createPlacementGroup([{ CPU: 4 }]);
    await whole.ready(limit);
    const second = await ray.createPlacementGroup([{ CPU: 4 }]);
    await assert.rejects(second.ready({ timeoutMs: 500 }), RayTimeoutError);
    const reason = new Error('no longer wanted');
    const stop = new AbortController();
    const waiting = assert.rejects(second.ready({ signal: stop.signal }), reason);
    stop.abort(reason);
    await waiting;
    await whole.remove(limit);
    await second.ready(limit);
    await second.remove(limit);
  });

  test('a placement group is found by its name, with its bundles', async () => {
    const group = await ray.createPlacementGroup([{ CPU: 1 }], { name: 'named' });
    await group.ready(limit);
    const found = await ray.getPlacementGroup('named', limit);
    assert.deepEqual([found.id, found.bundles], [group.id, [{ CPU: 1 }]]);
    await found.remove(limit);
  });

  test('a placement group that does not exist, a bundle without resources, and an index out of range are ValueErrors', async () => {
    const isValueError = (error: unknown) =>
      error instanceof RayPythonError && error.pythonType === 'ValueError';
    await assert.rejects(ray.getPlacementGroup('not-there', limit), isValueError);
    await assert.rejects(ray.createPlacementGroup([{}], limit), isValueError);
    const group = await ray.createPlacementGroup([{ CPU: 1 }]);
    const schedulingStrategy = { placementGroup: group, bundle: 1 };
    await assert.rejects(ray.call(nodeId, { schedulingStrategy, ...limit }), isValueError);
    await group.remove(limit);
  });
});

describe('retryExceptions', () => {
  const flaky = functionRef<(path: string, failures: number, kind?: string) => number>('probe:flaky');
  const directory = mkdtempSync(join(tmpdir(), 'flaky-'));
  after(() => rmSync(directory, { recursive: true }));
  let files = 0;
  const path = () => join(directory, String(files++));

  test('retryExceptions repeats a task that raised, up to maxRetries', async () => {
    const options = { retryExceptions: true, maxRetries: 2, ...limit };
    assert.equal(await ray.call(flaky, [path(), 2], options), 3);
    await assert.rejects(ray.call(flaky, [path(), 3], options), RayPythonError);
    await assert.rejects(ray.call(flaky, [path(), 1], { maxRetries: 2, ...limit }), RayPythonError);
  });

  test('retryExceptions of some classes repeats for those alone', async () => {
    const options = { retryExceptions: ['builtins:KeyError'], maxRetries: 1, ...limit };
    assert.equal(await ray.call(flaky, [path(), 1, 'KeyError'], options), 2);
    await assert.rejects(ray.call(flaky, [path(), 1, 'ValueError'], options), RayPythonError);
  });

  test('retryExceptions of a class that does not load, or is no exception, is refused', async () => {
    for (const retryExceptions of [['no_such_module:Error'], ['builtins:int']]) {
      await assert.rejects(ray.call(flaky, [path(), 0], { retryExceptions, ...limit }), RayPythonError);
    }
  });

  test('retryExceptions of a method repeats the method, up to maxTaskRetries', async () => {
    const source =
      'class Flaky:\n    def __init__(self):\n        self.calls = 0\n    def call(self):\n        self.calls += 1\n        if self.calls < 3:\n            raise ValueError(self.calls)\n        return self.calls\n';
    const Flaky = sourceActorClass<{ call(): number }, []>(source, 'Flaky');
    const actor = await ray.createActor(Flaky, { numCpus: 0 });
    assert.equal(await actor.call('call', { retryExceptions: true, maxTaskRetries: 2, ...limit }), 3);
    await actor.kill();
  });
});

test('kill -9 of the head: the session is lost within its grace period, and later calls fail', async () => {
  const actor = await ray.createActor(actorClass('probe:Counter'));
  await actor.ready(limit);
  const waiting = actor.call('blob', [256 * 1024], limit).then(() => actor.call('echo', [1], limit));
  await waiting;
  const pending = ray.createActor(actorClass('probe:Waiter')).then((waiter) => waiter.call('wait', limit));
  await Promise.all([assert.rejects(pending, RayError), head.kill()]);
  const reason = await ray.closed;
  assert.ok(reason.kind === 'lost' && reason.error instanceof RaySessionLostError);
  await assert.rejects(actor.call('echo', [1], limit), RaySessionLostError);
  await assert.rejects(ray.kv.get('k'), RayError);
});
