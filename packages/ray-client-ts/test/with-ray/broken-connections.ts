import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { actorClass } from '../../src/code.ts';
import { connect, type RayConnectOptions } from '../../src/connect.ts';
import type { RayConnection } from '../../src/connection.ts';
import { RaySessionLostError } from '../../src/errors.ts';
import { type CuttingProxy, startCuttingProxy } from '../support/cutting-proxy.ts';
import type { RayHead } from '../support/ray-head.ts';

const Counter = actorClass('probe:Counter');
const Waiter = actorClass('probe:Waiter');
const limit = { timeoutMs: 90_000 };
const MIB = 2 ** 20;

/** `running`: the head that all tests of one node share, from the first test on. */
export function testBrokenConnections(running: () => RayHead): void {
  let head: RayHead;
  let proxy: CuttingProxy;
  let ray: RayConnection;
  /** Of earlier tests: a session outlives their broken connections, so one serves them all. */
  let reconnectsBefore = 0;

  async function connectThrough(options: RayConnectOptions = {}): Promise<RayConnection> {
    const address = `ray://127.0.0.1:${proxy.port}`;
    return connect(address, { ...head.credentials, selfTest: false, ...options });
  }

  before(async () => {
    head = running();
    proxy = await startCuttingProxy(head.port);
    ray = await connectThrough();
  });
  after(async () => {
    await ray?.close();
    await proxy?.[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    reconnectsBefore = ray.reconnects;
  });
  const reconnects = (): number => ray.reconnects - reconnectsBefore;

  describe('a connection that breaks', () => {
    test('a session continues if its idle connection breaks', async () => {
      const actor = await ray.createActor(Counter, [1]);
      const pid = await actor.call('pid', limit);
      proxy.cut();
      assert.equal(await actor.call('pid', limit), pid);
      assert.equal(reconnects(), 1);
      await actor.kill();
    });

    test('a call is made once if the connection breaks within the chunks of its argument', async () => {
      const actor = await ray.createActor(Counter);
      await actor.ready(limit);
      proxy.cutAfterUpload(12 * MIB);
      assert.equal(await actor.call('size', [Buffer.alloc(24 * MIB, 3)], limit), 24 * MIB);
      assert.equal(reconnects(), 1);
      // One call of `size` and this one.
      assert.equal(await actor.call('add', [1], limit), 2);
      // The next request in chunks finds the server in order.
      assert.equal(await actor.call('size', [Buffer.alloc(11 * MIB, 3)], limit), 11 * MIB);
      await actor.kill();
    });

    test('a put succeeds if the connection breaks within its chunks', async () => {
      const blob = Buffer.alloc(24 * MIB, 5);
      proxy.cutAfterUpload(8 * MIB);
      const ref = await ray.put(blob);
      assert.ok(blob.equals((await ray.get(ref, limit)) as Uint8Array));
      assert.equal(reconnects(), 1);
    });

    test('a result arrives whole if the connection breaks within its chunks', async () => {
      const actor = await ray.createActor(Counter);
      await actor.ready(limit);
      proxy.cutAfterDownload(12 * MIB);
      const blob = (await actor.call('blob', [24 * MIB], limit)) as Uint8Array;
      assert.equal(blob.length, 24 * MIB);
      assert.ok(blob.every((byte, index) => byte === index % 256));
      assert.equal(reconnects(), 1);
      await actor.kill();
    });

    test('every call is made once and answered although connections break again and again under load', async () => {
      const actor = await ray.createActor(Counter);
      await actor.ready(limit);
      const calls = Array.from({ length: 300 }, (_, index) => {
        const call = actor.call('add', [1], limit);
        if (index % 100 === 50) void call.then(proxy.cut);
        return call;
      });
      const values = (await Promise.all(calls)) as number[];
      assert.deepEqual(
        values,
        Array.from({ length: 300 }, (_, index) => index + 1),
      );
      // All may be answered before the first cut; a further call then finds the connection broken.
      assert.equal(await actor.call('add', [1], limit), 301);
      assert.ok(reconnects() >= 1);
      await actor.kill();
    });

    test('the value of a long method arrives although the connection broke', async () => {
      const actor = await ray.createActor(Waiter, { maxConcurrency: 4 });
      await actor.ready(limit);
      const waiting = actor.call('wait', limit);
      await actor.ready(limit);
      proxy.cut();
      await actor.call('release', limit);
      assert.equal(await waiting, 'released');
      await actor.kill();
    });

    test('unary reads and changes are repeated if their connection breaks', async () => {
      proxy.cut();
      assert.equal(await ray.kv.put('cut', 'value'), true);
      proxy.cut();
      assert.equal(String(await ray.kv.get('cut')), 'value');
      proxy.cut();
      assert.equal((await ray.nodes()).length, 1);
      assert.equal(await ray.kv.del('cut'), 1);
    });

    test('without a grace period a broken connection ends the session, and every caller gets the reason', async () => {
      await using ray = await connectThrough({ reconnectGraceMs: 0 });
      const actor = await ray.createActor(Waiter);
      const waiting = actor.call('wait', limit);
      await ray.nodes();
      proxy.cut();
      await assert.rejects(waiting, RaySessionLostError);
      const reason = await ray.closed;
      assert.equal(reason.kind, 'lost');
      await assert.rejects(actor.call('wait', limit), RaySessionLostError);
    });
  });
}
