import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { actorClass, functionRef, sourceActorClass } from '../../src/code.ts';
import { connect, type RayConnectOptions } from '../../src/connect.ts';
import type { RayConnection } from '../../src/connection.ts';
import { RayActorDiedError, RayPickleError, RayPythonError, RayTimeoutError } from '../../src/errors.ts';
import type { RayHead } from '../support/ray-head.ts';

const Counter = actorClass('probe:Counter');
const Waiter = actorClass('probe:Waiter');
const limit = { timeoutMs: 90_000 };

/** `running`: the head that all tests of one node share, from the first test on. */
export function testActors(running: () => RayHead): void {
  let head: RayHead;
  let ray: RayConnection;
  const session = (options: RayConnectOptions = {}): Promise<RayConnection> =>
    connect(head.address, { ...head.credentials, namespace: 'tests', selfTest: false, ...options });
  before(async () => {
    head = running();
    ray = await session();
  });
  after(async () => {
    await ray?.close();
  });

  describe('an actor', () => {
    test('an actor retains its state and takes calls in order', async () => {
      const actor = await ray.createActor(Counter, [5]);
      await actor.ready(limit);
      const values = await Promise.all(Array.from({ length: 50 }, () => actor.call('add', [1], limit)));
      assert.deepEqual(
        values,
        Array.from({ length: 50 }, (_, index) => 6 + index),
      );
      assert.equal(await actor.call('add', { kwargs: { by: 10 }, ...limit }), 65);
      await actor.kill();
    });

    test('an actor takes and returns bytes and plain values', async () => {
      const actor = await ray.createActor(Counter);
      for (const value of [Buffer.from('bytes'), 'text', 1.5, null, [1, { a: [] }], { k: 'v' }]) {
        assert.deepEqual(await actor.call('echo', [value], limit), value);
      }
      await actor.kill();
    });

    test('an actor of source text is created and called', async () => {
      const source =
        'HELLO = "hello"\nclass Greeter:\n    def greet(self, name):\n        return f"{HELLO} {name}"\n';
      const actor = await ray.createActor(sourceActorClass(source, 'Greeter'), { numCpus: 0 });
      assert.equal(await actor.call('greet', ['you'], limit), 'hello you');
      await actor.kill();
    });

    test('an actor with asynchronous methods runs them at the same time', async () => {
      const actor = await ray.createActor(Waiter, { maxConcurrency: 4 });
      const waiting = [actor.call('wait', limit), actor.call('wait', limit)];
      await actor.call('release', limit);
      assert.deepEqual(await Promise.all(waiting), ['released', 'released']);
      await actor.kill();
    });

    test('an actor is passed to a task and back', async () => {
      const actor = await ray.createActor(Counter, [1]);
      const back = (await actor.call('echo', [[actor, 'x']], limit)) as [typeof actor, string];
      assert.equal(back[0].hex, actor.hex);
      assert.equal(await back[0].call('add', [1], limit), 2);
      await back[0].release();
      assert.equal(await actor.call('add', [1], limit), 3);
      await actor.kill();
    });

    test('an actor runs on the named node, with a share of a GPU', async () => {
      const [node] = await ray.nodes();
      assert.ok(node);
      const source =
        'import os\nclass Gpu:\n    def seen(self):\n        return os.environ.get("CUDA_VISIBLE_DEVICES")\n';
      const options = { numGpus: 0.5, schedulingStrategy: { nodeId: node.id } };
      const actor = await ray.createActor(sourceActorClass(source, 'Gpu'), options);
      assert.equal(await actor.call('seen', limit), '0');
      await actor.kill();
    });
  });

  describe('a named actor', () => {
    test('a named actor is found by name and namespace, and created once', async () => {
      const options = { name: 'one', getIfExists: true, lifetime: 'detached' } as const;
      const [first, second] = await Promise.all([
        ray.createActor(Counter, options),
        ray.createActor(Counter, options),
      ]);
      assert.equal(first.hex, second.hex);
      await first.ready(limit);
      assert.equal((await ray.getActor('one')).hex, first.hex);
      assert.deepEqual(await ray.namedActors(), [{ name: 'one', namespace: 'tests' }]);
      await assert.rejects(ray.createActor(Counter, { name: 'one' }), (error) => {
        return error instanceof RayPythonError && /already|ActorAlreadyExists/i.test(error.message);
      });
      const elsewhere = await ray.createActor(Counter, { name: 'two', namespace: 'elsewhere' });
      await elsewhere.ready(limit);
      assert.deepEqual(
        (await ray.namedActors({ allNamespaces: true })).toSorted((a, b) => a.name.localeCompare(b.name)),
        [
          { name: 'one', namespace: 'tests' },
          { name: 'two', namespace: 'elsewhere' },
        ],
      );
      await elsewhere.kill();
      await first.kill();
    });

    test('a named actor that is not there is a ValueError', async () => {
      await assert.rejects(ray.getActor('not-there'), (error) => {
        return error instanceof RayPythonError && error.pythonType === 'ValueError';
      });
    });

    test('a detached actor lives on after its session; another does not', async () => {
      const source = await session({ reconnectGraceMs: 0 });
      const detached = await source.createActor(Counter, [1], { name: 'stays', lifetime: 'detached' });
      await source.createActor(Counter, { name: 'goes' });
      await detached.ready(limit);
      const pid = await detached.call('pid', limit);
      await source.close();
      const found = await ray.getActor('stays');
      assert.equal(await found.call('pid', limit), pid);
      const names = async (): Promise<string[]> => (await ray.namedActors()).map(({ name }) => name);
      while ((await names()).includes('goes')) await new Promise((resolve) => setTimeout(resolve, 50));
      await found.kill();
      // Ray answers a kill before the process is gone: a call in between is still carried out.
      const callOn = async () => {
        for (;;) await found.call('pid', limit);
      };
      await assert.rejects(callOn, RayActorDiedError);
    });
  });

  describe('an actor fails if', () => {
    test('an actor whose method raises gives the exception', async () => {
      const actor = await ray.createActor(Counter);
      await assert.rejects(actor.call('fail', ['key'], limit), (error) => {
        return (
          error instanceof RayPythonError &&
          error.pythonType === 'KeyError' &&
          /probe\.py/.test(error.pythonTraceback)
        );
      });
      assert.equal(await actor.call('add', [1], limit), 1);
      await actor.kill();
    });

    test('an actor whose method does not exist, or takes other arguments, gives an error', async () => {
      const actor = await ray.createActor(Counter);
      await assert.rejects(actor.call('no_such_method', limit), (error) => {
        return error instanceof RayPythonError && error.pythonType === 'AttributeError';
      });
      await assert.rejects(actor.call('add', [1, 2, 3], limit), (error) => {
        return error instanceof RayPythonError && error.pythonType === 'TypeError';
      });
      await actor.kill();
    });

    test('an actor whose constructor raises gives the exception', async () => {
      const actor = await ray.createActor(Counter, { kwargs: { fail: true } });
      await assert.rejects(actor.ready(limit), (error) => {
        return error instanceof RayActorDiedError && /refused to be born/.test(error.message);
      });
    });

    test('an actor that dies gives an error', async () => {
      const actor = await ray.createActor(Counter);
      await assert.rejects(actor.call('die', limit), RayActorDiedError);
      await assert.rejects(actor.call('add', limit), RayActorDiedError);
    });

    test('an actor that dies and is started again takes further calls', async () => {
      const actor = await ray.createActor(Counter, { maxRestarts: 1 });
      const before = await actor.call('pid', limit);
      await actor.kill({ noRestart: false });
      // Ray kills it in its own time: calls reach the old process for a while, then none, then the new one.
      let pid: unknown = before;
      const deadline = Date.now() + limit.timeoutMs;
      while (pid === before || pid === undefined) {
        assert.ok(Date.now() < deadline, 'it was not started again');
        pid = await actor.call('pid', limit).catch((error) => {
          if (!(error instanceof RayActorDiedError)) throw error;
        });
      }
      assert.equal(typeof pid, 'number');
      await actor.kill();
    });

    test('a call of a slow actor ends with a timeout, and the actor continues', async () => {
      const actor = await ray.createActor(Waiter, { maxConcurrency: 2 });
      await actor.ready(limit);
      await assert.rejects(actor.call('wait', { timeoutMs: 200 }), RayTimeoutError);
      await actor.call('release', limit);
      assert.equal(await actor.call('wait', limit), 'released');
      await actor.kill();
    });

    test('a handle of an actor that was released, or is of another connection, is refused', async () => {
      const actor = await ray.createActor(Counter);
      await actor.release();
      await assert.rejects(actor.call('add'), RayPickleError);
      await using other = await session({ reconnectGraceMs: 0 });
      const foreign = await ray.createActor(Counter);
      await assert.rejects(other.call(functionRef('probe:describe'), [foreign]), RayPickleError);
      await foreign.kill();
    });
  });
}
