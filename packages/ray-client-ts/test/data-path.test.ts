import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createChannel } from '../src/channel.ts';
import { DataPath } from '../src/data-path.ts';
import { RayClosedError, RaySessionLostError } from '../src/errors.ts';
import { DATAPATH, type DataRequest, type DataResponse } from '../src/protocol.ts';
import { type FakeRay, type FakeRayOptions, startFakeRay } from './support/fake-ray.ts';

interface Line {
  readonly ray: FakeRay;
  readonly path: DataPath;
}

async function withLine(
  options: FakeRayOptions & { readonly graceMs?: number; readonly cut?: number },
  use: (line: Line) => Promise<void>,
): Promise<void> {
  await using ray = await startFakeRay(options);
  const channel = createChannel({ address: ray.address });
  const graceMs = options.graceMs ?? 10_000;
  const path = new DataPath({
    open: (again) => channel.stream(DATAPATH, { client_id: 'c', reconnecting: again ? 'True' : 'False' }),
    ping: (timeoutMs) => channel.ping(timeoutMs),
    graceMs,
    chunkBytes: () => options.cut ?? 4,
  });
  try {
    await path.ask({ kind: 'init', init: { reconnect_grace_period: Math.ceil(graceMs / 1000) } }).answer;
    path.establish();
    await use({ ray, path });
  } finally {
    await path.close();
    channel.close();
  }
}

/** True the first time that `matches` holds. */
function once<T>(matches: (value: T) => boolean): (value: T) => boolean {
  let done = false;
  return (value) => {
    if (done || !matches(value)) return false;
    done = true;
    return true;
  };
}

const task = (path: DataPath, text = 'argument in several chunks') =>
  path.ask({ kind: 'task', task: { name: 't' }, data: Buffer.from(text) });
const idOf = (answer: DataResponse | Uint8Array): Uint8Array =>
  (answer as DataResponse).task_ticket?.return_ids?.[0] ?? new Uint8Array(0);
const run = (_: unknown, data: Uint8Array): Uint8Array => data;

describe('the data path', () => {
  test('the data path answers in order, with ids that grow', async () => {
    await withLine({ run }, async ({ ray, path }) => {
      const ids = await Promise.all(['a', 'b', 'c'].map(async (text) => idOf(await task(path, text).answer)));
      const values = await Promise.all(ids.map((id) => path.ask({ kind: 'get', id }).answer));
      assert.deepEqual(values.map(String), ['a', 'b', 'c']);
      const reqIds = ray.received.map((message) => message.req_id ?? 0);
      assert.deepEqual(
        reqIds,
        reqIds.toSorted((a, b) => a - b),
      );
    });
  });

  test('the data path acknowledges every 32 answers, and never an open one', async () => {
    await withLine({ run }, async ({ ray, path }) => {
      for (let index = 0; index < 70; index++) await path.ask({ kind: 'info' }).answer;
      const acknowledged = ray.received.flatMap(({ acknowledge }) => acknowledge?.req_id ?? []);
      assert.deepEqual(acknowledged, [32, 64]);
    });
  });

  test('the data path acknowledges nothing without a grace period', async () => {
    await withLine({ graceMs: 0 }, async ({ ray, path }) => {
      for (let index = 0; index < 40; index++) await path.ask({ kind: 'info' }).answer;
      assert.ok(ray.received.every(({ acknowledge }) => !acknowledge));
    });
  });
});

describe('after a broken connection', () => {
  const broken: [string, FakeRayOptions][] = [
    ['in the middle of a chunked task', { breakBefore: once((m: DataRequest) => m.task?.chunk_id === 2) }],
    ['before the last chunk', { breakBefore: once((m: DataRequest) => m.task?.chunk_id === 6) }],
    ['after the task ran, before its answer', { breakInstead: once((r: DataResponse) => !!r.task_ticket) }],
  ];
  for (const [name, options] of broken) {
    test(`${name}: it runs once, and is answered`, async () => {
      await withLine({ run, cut: 4, ...options }, async ({ ray, path }) => {
        const id = idOf(await task(path).answer);
        assert.equal(String(await path.ask({ kind: 'get', id }).answer), 'argument in several chunks');
        assert.equal(ray.ran(), 1);
        assert.equal(path.reconnects, 1);
        assert.deepEqual(
          ray.streams.map((stream) => stream.reconnecting),
          ['False', 'True'],
        );
        assert.equal(new Set(ray.streams.map((stream) => stream.clientId)).size, 1);
      });
    });
  }

  test('a result that a broken connection interrupts continues at the next chunk', async () => {
    const breakInstead = once((reply: DataResponse) => reply.get?.chunk_id === 3);
    await withLine({ run, chunkBytes: 5, breakInstead }, async ({ ray, path }) => {
      const id = idOf(await task(path).answer);
      assert.equal(
        Buffer.from((await path.ask({ kind: 'get', id }).answer) as Uint8Array).toString(),
        'argument in several chunks',
      );
      assert.deepEqual(
        ray.received.flatMap(({ get }) => (get ? [get.start_chunk_id] : [])),
        [0, 3],
      );
    });
  });

  test('every request is answered although the connection breaks again and again', async () => {
    let count = 0;
    const breakBefore = (): boolean => ++count % 37 === 0;
    await withLine({ run, cut: 100, breakBefore }, async ({ ray, path }) => {
      const texts = Array.from({ length: 100 }, (_, index) => `value ${index}`);
      const values = await Promise.all(
        texts.map(async (text) =>
          String(await path.ask({ kind: 'get', id: idOf(await task(path, text).answer) }).answer),
        ),
      );
      assert.deepEqual(values, texts);
      assert.equal(ray.ran(), 100);
      assert.ok(path.reconnects > 2);
    });
  });

  test('a request without a waiting caller is not repeated after a broken connection', async () => {
    await withLine({ run }, async ({ ray, path }) => {
      const id = idOf(await task(path).answer);
      const get = path.ask({ kind: 'get', id: Buffer.alloc(28, 0xaa) });
      await path.ask({ kind: 'get', id }).answer;
      get.abandoned = true;
      ray.breakAll();
      await path.ask({ kind: 'info' }).answer;
      assert.equal(path.reconnects, 1);
      assert.equal(ray.received.filter((message) => message.req_id === get.reqId).length, 1);
    });
  });

  test('an idle connection that breaks is opened again', async () => {
    await withLine({ run }, async ({ ray, path }) => {
      const get = path.ask({ kind: 'get', id: Buffer.alloc(28, 0xaa) });
      get.answer.catch(() => {});
      ray.breakAll();
      await path.ask({ kind: 'info' }).answer;
      assert.equal(path.reconnects, 1);
    });
  });
});

describe('the end', () => {
  test('a session that the server forgot is lost, at once and for everyone', async () => {
    await withLine({ run }, async ({ ray, path }) => {
      const waiting = path.ask({ kind: 'get', id: Buffer.alloc(28, 0xaa) });
      await path.ask({ kind: 'info' }).answer;
      ray.forgetSessions();
      ray.breakAll();
      await assert.rejects(waiting.answer, RaySessionLostError);
      assert.match((await path.ended).message, /already been cleaned up/);
      await assert.rejects(path.ask({ kind: 'info' }).answer, RaySessionLostError);
    });
  });

  test('without a grace period a broken connection ends the session', async () => {
    await withLine({ graceMs: 0 }, async ({ ray, path }) => {
      await path.ask({ kind: 'info' }).answer;
      ray.breakAll();
      assert.ok((await path.ended) instanceof RaySessionLostError);
      assert.equal(ray.streams.length, 1);
    });
  });

  test('a server that never comes back is given up within the grace period', async () => {
    await withLine({ graceMs: 500 }, async ({ ray, path }) => {
      await ray[Symbol.asyncDispose]();
      assert.match((await path.ended).message, /did not come back within 500 ms/);
    });
  });

  test('closing tells the server and rejects open requests', async () => {
    await withLine({ run }, async ({ ray, path }) => {
      const waiting = path.ask({ kind: 'get', id: Buffer.alloc(28, 0xaa) });
      await path.close();
      await assert.rejects(waiting.answer, RayClosedError);
      assert.ok((await path.ended) instanceof RayClosedError);
      assert.ok(ray.received.at(-1)?.connection_cleanup);
      await assert.rejects(path.ask({ kind: 'info' }).answer, RayClosedError);
    });
  });

  test('a stream that breaks before the session began ends the session', async () => {
    await using ray = await startFakeRay({ breakBefore: () => true });
    const channel = createChannel({ address: ray.address });
    const path = new DataPath({
      open: () => channel.stream(DATAPATH, { client_id: 'c', reconnecting: 'False' }),
      ping: (timeoutMs) => channel.ping(timeoutMs),
      graceMs: 10_000,
      chunkBytes: () => 10,
    });
    await assert.rejects(path.ask({ kind: 'init', init: {} }).answer, RaySessionLostError);
    channel.close();
  });
});
