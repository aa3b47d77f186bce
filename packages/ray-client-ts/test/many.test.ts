import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { functionRef } from '../src/code.ts';
import { connect } from '../src/connect.ts';
import type { RayConnection } from '../src/connection.ts';
import { RayClosedError, RayPickleError, RayTimeoutError } from '../src/errors.ts';
import { PyCall, PyGlobal } from '../src/pickle/values.ts';
import { writePickle } from '../src/pickle/writer.ts';
import type { ObjectRef } from '../src/references.ts';
import { type FakeRay, type FakeRayOptions, startFakeRay } from './support/fake-ray.ts';

const fn = functionRef('m:f');

async function withRay(
  options: FakeRayOptions,
  use: (ray: RayConnection, fake: FakeRay) => Promise<void>,
): Promise<void> {
  await using fake = await startFakeRay(options);
  await using ray = await connect(fake.address, { selfTest: false });
  await use(ray, fake);
}

/** A reference to something that is never there. */
const never = (ray: RayConnection) => ray.task(fn);

describe('get of many', () => {
  test('get of many asks once and keeps the order, in one chunk or in many', async () => {
    for (const chunkBytes of [2 ** 20, 7]) {
      await withRay({ chunkBytes }, async (ray, fake) => {
        const values = Array.from({ length: 20 }, (_, index) => `value ${index}`);
        const refs = await Promise.all(values.map((value) => ray.put(value)));
        assert.deepEqual(await ray.get(refs), values);
        assert.deepEqual(await ray.get([...refs].reverse()), values.toReversed());
        assert.equal(fake.manyRequests(), 2);
        assert.equal(fake.received.filter((message) => message.get).length, 0);
      });
    }
  });

  test('get of no reference or of one needs no request for many', async () => {
    await withRay({}, async (ray, fake) => {
      assert.deepEqual(await ray.get([]), []);
      assert.deepEqual(await ray.get([await ray.put(1)]), [1]);
      assert.equal(fake.manyRequests(), 0);
    });
  });

  test('get of many that is not there in time is a timeout, and nothing waits longer', async () => {
    await withRay({}, async (ray) => {
      const refs = [await ray.put(1), await never(ray)];
      await assert.rejects(ray.get(refs, { timeoutMs: 50 }), (error) => {
        return error instanceof RayTimeoutError && /2 objects/.test(error.message);
      });
    });
  });

  test('get of many gets the objects one by one after a failure or a broken connection', async () => {
    const boom = writePickle(new PyCall(new PyGlobal('builtins', 'ValueError'), 'boom'), { code: true });
    for (const instead of [boom, 'broken' as const]) {
      await withRay({ instead: () => instead }, async (ray, fake) => {
        const refs = [await ray.put('a'), await ray.put('b')];
        assert.deepEqual(await ray.get(refs), ['a', 'b']);
        assert.equal(fake.received.filter((message) => message.get).length, 2);
      });
    }
  });

  test('get of many rejects when the session ends', async () => {
    await withRay({}, async (ray) => {
      const waiting = ray.get([await ray.put(1), await never(ray)]);
      const refused = assert.rejects(waiting, RayClosedError);
      await ray.close();
      await refused;
    });
  });

  test('get of many refuses a released reference before anything is sent', async () => {
    await withRay({}, async (ray, fake) => {
      const [kept, released] = [await ray.put(1), await ray.put(2)];
      await ray.release(released);
      await assert.rejects(ray.get([kept, released]), RayPickleError);
      await assert.rejects(ray.wait([kept, released]), RayPickleError);
      assert.equal(fake.manyRequests(), 0);
    });
  });
});

test('a reference carries the type of its value from its maker to get', async () => {
  await withRay({}, async (ray) => {
    const started: Promise<ObjectRef<number>> = ray.task(functionRef<() => number>('m:f'));
    assert.ok((await started).hex);
    const stored = (await ray.put('text')) as ObjectRef<string>;
    const text: string = await ray.get(stored);
    const several: string[] = await ray.get([stored, stored]);
    assert.deepEqual([text, ...several, Object.keys(stored)], ['text', 'text', 'text', ['id']]);
  });
});

describe('wait', () => {
  test('wait tells which objects are there and which are not', async () => {
    await withRay({}, async (ray) => {
      const [there, late] = [await ray.put(1), await never(ray)];
      assert.deepEqual(await ray.wait([late, there]), { ready: [there], pending: [late] });
      const all = await ray.wait([late, there], { numReturns: 2, timeoutMs: 200 });
      assert.deepEqual(all, { ready: [there], pending: [late] });
    });
  });

  test('wait refuses a number that cannot be met, and a repeated reference', async () => {
    await withRay({}, async (ray) => {
      const ref = await ray.put(1);
      for (const numReturns of [0, 2, 1.5, Number.NaN]) {
        await assert.rejects(ray.wait([ref], { numReturns }), TypeError);
      }
      await assert.rejects(ray.wait([]), TypeError);
      await assert.rejects(ray.wait([ref, ref]), /twice/);
    });
  });

  test('wait rejects when the session ends', async () => {
    await withRay({}, async (ray) => {
      const refused = assert.rejects(ray.wait([await never(ray)]), RayClosedError);
      await ray.close();
      await refused;
    });
  });
});

describe('asCompleted', () => {
  test('asCompleted yields each reference once, those that are there before those that are not', async () => {
    await withRay({}, async (ray) => {
      const refs = [await ray.put('a'), await ray.put('b'), await ray.put('c')];
      const seen: unknown[] = [];
      for await (const ref of ray.asCompleted(refs)) seen.push(await ray.get(ref));
      assert.deepEqual(seen.toSorted(), ['a', 'b', 'c']);
      for await (const ref of ray.asCompleted([])) assert.fail(ref.hex);
    });
  });

  test('asCompleted throws a timeout for a late object, after yielding the others', async () => {
    await withRay({}, async (ray) => {
      const [there, late] = [await ray.put(1), await never(ray)];
      const completed = ray.asCompleted([late, there], { timeoutMs: 200 });
      assert.equal((await completed.next()).value, there);
      await assert.rejects(completed.next(), RayTimeoutError);
    });
  });

  test('asCompleted ends with its signal at once, as wait does', async () => {
    await withRay({}, async (ray) => {
      const late = await never(ray);
      const reason = new Error('no longer wanted');
      const stop = new AbortController();
      const waiting = [
        assert.rejects(ray.wait([late], { signal: stop.signal }), reason),
        assert.rejects(ray.asCompleted([late], { signal: stop.signal }).next(), reason),
      ];
      stop.abort(reason);
      await Promise.all(waiting);
      await assert.rejects(ray.wait([late], { signal: AbortSignal.abort(reason) }), reason);
    });
  });
});
