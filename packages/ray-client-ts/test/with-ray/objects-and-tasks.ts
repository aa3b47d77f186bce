import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { functionRef, sourceActorClass, sourceFunction } from '../../src/code.ts';
import { connect } from '../../src/connect.ts';
import type { RayConnection } from '../../src/connection.ts';
import {
  RayGeneratorError,
  RayPickleError,
  RayPythonError,
  RayRequestError,
  RayTimeoutError,
} from '../../src/errors.ts';
import { packageUri } from '../../src/packages.ts';
import { PyFloat, PyTuple } from '../../src/pickle/values.ts';
import type { RayHead } from '../support/ray-head.ts';

const probe = (name: string) => functionRef(`probe:${name}`);
const timeoutMs = 90_000;

/** `running`: the head that all tests of one node share, from the first test on. */
export function testObjectsAndTasks(running: () => RayHead): void {
  let head: RayHead;
  let ray: RayConnection;
  before(async () => {
    head = running();
    ray = await connect(head.address, { ...head.credentials, namespace: 'tests' });
  });
  after(async () => {
    await ray?.close();
  });

  async function failure(promise: Promise<unknown>): Promise<RayPythonError> {
    const error = await promise.then(
      () => assert.fail('it did not fail'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof RayPythonError, String(error));
    return error;
  }

  describe('the cluster', () => {
    test('the cluster states its nodes, resources and versions', async () => {
      const [node] = await ray.nodes();
      assert.ok(node?.alive && node.isHead);
      assert.equal(node.address, '127.0.0.1');
      assert.match(node.id, /^[0-9a-f]{56}$/);
      assert.match(ray.rayVersion, /^2\.\d+\.\d+/);
      assert.match(ray.pythonVersion, /^3\.\d+\.\d+/);
      assert.deepEqual(ray.warnings, []);
      const total = await ray.clusterResources();
      assert.deepEqual([total.CPU, total.GPU], [8, 1]);
      const free = await ray.availableResources();
      assert.ok((free.memory ?? 0) > 0);
      const perNode = await ray.availableResourcesPerNode();
      assert.ok((perNode[node.id]?.memory ?? 0) > 0);
      assert.equal(await ray.dashboardUrl(), undefined);
    });

    test('the key-value store of the cluster stores, finds, lists and deletes', async () => {
      const options = { namespace: 'tests' };
      assert.equal(await ray.kv.get('k', options), undefined);
      assert.equal(await ray.kv.put('k', Uint8Array.of(0, 255), options), true);
      assert.deepEqual([...((await ray.kv.get('k', options)) ?? [])], [0, 255]);
      assert.equal(await ray.kv.put('k', 'other', { ...options, overwrite: false }), false);
      assert.equal(await ray.kv.exists('k', options), true);
      assert.equal(await ray.kv.exists('k', { namespace: 'elsewhere' }), false);
      assert.deepEqual((await ray.kv.list('', options)).map(String), ['k']);
      assert.equal(await ray.kv.del('k', options), 1);
      assert.equal(await ray.kv.exists('k', options), false);
    });
  });

  describe('objects', () => {
    test('values are put and got back equal', async () => {
      const value = {
        nothing: null,
        flags: [true, false],
        numbers: [0, -1, 65_536, 2 ** 40, -(2 ** 31) - 1, 0.1],
        text: 'žluťoučký 🐎',
        bytes: Buffer.from([0, 1, 255]),
        nested: { list: [[], {}] },
      };
      const ref = await ray.put(value);
      assert.deepEqual(await ray.get(ref, { timeoutMs }), value);
      await ray.release(ref);
      await assert.rejects(ray.get(ref), RayPickleError);
    });

    test('typed arrays are put as numpy arrays and got back equal', async () => {
      const arrays = [
        Int8Array.of(-1, 2),
        Int16Array.of(-300),
        Uint16Array.of(60_000),
        Int32Array.of(-70_000),
        Uint32Array.of(4_000_000_000),
        BigInt64Array.of(-(2n ** 62n)),
        BigUint64Array.of(2n ** 63n),
        Float32Array.of(0.1, Number.NaN),
        Float64Array.of(0.1, -0, Number.POSITIVE_INFINITY).subarray(1),
      ];
      assert.deepEqual(await ray.get(await ray.put(arrays), { timeoutMs }), arrays);
      const look = sourceFunction<(values: Float64Array) => string>(
        'def look(values):\n    return f"{values.dtype} {values.sum()}"\n',
        'look',
      );
      assert.equal(
        await ray.get(await ray.task(look, [Float64Array.of(1, 2)]), { timeoutMs }),
        'float64 3.0',
      );
      await assert.rejects(
        ray.put(new DataView(new ArrayBuffer(8))),
        /an object of class DataView cannot be sent/,
      );
    });

    test('64 MiB are put and got back in chunks', async () => {
      const blob = Buffer.alloc(64 * 2 ** 20);
      for (let at = 0; at < blob.length; at += 4096) blob.writeUInt32LE(at, at);
      const ref = await ray.put(blob);
      assert.equal(await ray.call(probe('size'), [ref], { timeoutMs }), blob.length);
      assert.ok(blob.equals((await ray.get(ref, { timeoutMs })) as Uint8Array));
      await ray.release(ref);
    });

    test('numpy scalars and arrays are got as numbers and typed arrays', async () => {
      const { array, flags, scalar } = (await ray.call(probe('numbers'), { timeoutMs })) as Record<
        string,
        unknown
      >;
      assert.deepEqual(array, Float64Array.of(0, 1, 2, 3));
      assert.deepEqual(flags, [true, false]);
      assert.equal(scalar, 0.5);
    });
  });

  describe('numpy', () => {
    const made = (expression: string) =>
      sourceFunction(`def f():\n    import numpy as np\n    return ${expression}\n`, 'f');

    test('numpy arrays of every plain dtype are read', async () => {
      const arrays = {
        int8: Int8Array,
        int16: Int16Array,
        int32: Int32Array,
        int64: BigInt64Array,
        uint8: Uint8Array,
        uint16: Uint16Array,
        uint32: Uint32Array,
        uint64: BigUint64Array,
        float16: Float32Array,
        float32: Float32Array,
        float64: Float64Array,
      };
      for (const [dtype, kind] of Object.entries(arrays)) {
        const value = await ray.call(made(`np.array([1, 0, 3], dtype="${dtype}")`), { timeoutMs });
        assert.ok(value instanceof kind, dtype);
        assert.deepEqual(Array.from(value, Number), [1, 0, 3], dtype);
      }
    });

    test('a numpy array of another dtype is an error that names the dtype', async () => {
      for (const [expression, said] of [
        ['np.zeros((2, 3))', /shape \(2, 3\)/],
        ['np.array([1], dtype=">i4")', />i4 \(big-endian\)/],
        ['np.array([1j])', /dtype c16/],
        ['np.array(["text"])', /dtype U4/],
        ['type("Home", (), {})()', /__main__\.Home|\bHome/],
      ] as const) {
        await assert.rejects(ray.call(made(expression), { timeoutMs }), (error) => {
          return error instanceof RayPickleError && said.test(error.message);
        });
      }
    });
  });

  describe('tasks', () => {
    test('a task of a global reference takes arguments and keywords', async () => {
      assert.equal(await ray.call(probe('add'), [1, 2], { timeoutMs }), 3);
      assert.equal(await ray.call(probe('add'), [1], { kwargs: { b: 5 }, timeoutMs }), 6);
    });

    test('each type of argument arrives as its Python type', async () => {
      const cases: [unknown, string][] = [
        [null, 'NoneType:None'],
        [true, 'bool:True'],
        [300, 'int:300'],
        [2n ** 70n, 'int:1180591620717411303424'],
        [1.5, 'float:1.5'],
        [new PyFloat(1), 'float:1.0'],
        ['é', "str:'é'"],
        [Buffer.from('b'), "bytes:b'b'"],
        [[1], 'list:[1]'],
        [new PyTuple(1, 'a'), "tuple:(1, 'a')"],
        [new Set([1]), 'set:{1}'],
        [new Map<unknown, unknown>([[1, 2]]), 'dict:{1: 2}'],
      ];
      const seen = await Promise.all(
        cases.map(([value]) => ray.call(probe('describe'), [value], { timeoutMs })),
      );
      assert.deepEqual(
        seen,
        cases.map(([, expected]) => expected),
      );
    });

    test('a large argument of a task is sent in chunks', async () => {
      const blob = Buffer.alloc(12 * 2 ** 20, 1);
      assert.equal(await ray.call(probe('size'), [blob], { timeoutMs }), blob.length);
    });

    test('a reference as an argument of a task is its value', async () => {
      const ref = await ray.task(probe('add'), [1, 1]);
      assert.equal(await ray.call(probe('add'), [ref, ref], { timeoutMs }), 4);
      await ray.release(ref);
    });

    test('a task of source text needs no file on the cluster', async () => {
      const fn = sourceFunction('import math\nBASE = 10\ndef f(x):\n    return BASE + math.floor(x)\n', 'f');
      assert.equal(await ray.call(fn, [2.5], { timeoutMs }), 12);
    });

    test('the options of a task set its node, resources and environment', async () => {
      const [node] = await ray.nodes();
      assert.ok(node);
      assert.equal(
        await ray.call(probe('node_id'), { schedulingStrategy: { nodeId: node.id }, timeoutMs }),
        node.id,
      );
      const options = { numGpus: 0.5, runtimeEnv: { env_vars: { PROBE: 'seen' } }, timeoutMs };
      assert.equal(await ray.call(probe('environment'), ['PROBE'], options), 'seen');
      assert.equal(await ray.call(probe('environment'), ['CUDA_VISIBLE_DEVICES'], options), '0');
    });

    test('a listener receives the output of a running task', async () => {
      const text = `hello ${process.pid}`;
      const heard = Promise.withResolvers<void>();
      const missing = new Set([text, text.toUpperCase()]);
      const stop = ray.onLog((log) => {
        for (const wanted of missing) {
          const kind = wanted === text ? 'stdout' : 'stderr';
          if (log.kind === kind && log.text.includes(wanted)) missing.delete(wanted);
        }
        if (missing.size === 0) heard.resolve();
      });
      // The stream opens with the first listener and keeps nothing: say it until it is heard.
      while (missing.size > 0) {
        await ray.call(probe('say'), [text], { timeoutMs });
        await Promise.race([heard.promise, new Promise((resolve) => setTimeout(resolve, 500))]);
      }
      stop();
    });
  });

  describe('many objects', () => {
    test('the objects of 200 tasks come with one get, in order', async () => {
      const tasks = Array.from({ length: 200 }, (_, index) =>
        ray.task(probe('add'), [index, 1], { numCpus: 0.1 }),
      );
      const refs = await Promise.all(tasks);
      const expected = Array.from({ length: 200 }, (_, index) => index + 1);
      assert.deepEqual(await ray.get(refs, { timeoutMs }), expected);
      await Promise.all(refs.map((ref) => ray.release(ref)));
    });

    test('many objects of 12 MiB each come in chunks', async () => {
      const blobs = [1, 2].map((fill) => Buffer.alloc(12 * 2 ** 20, fill));
      const refs = await Promise.all(blobs.map((blob) => ray.put(blob)));
      const values = (await ray.get(refs, { timeoutMs })) as Uint8Array[];
      assert.deepEqual(
        values.map((value, index) => blobs[index]?.equals(value)),
        [true, true],
      );
      await Promise.all(refs.map((ref) => ray.release(ref)));
    });

    test('many objects of which one failed give its exception, with the traceback', async () => {
      const refs = [await ray.put(1), await ray.task(probe('fail'), ['value'])];
      const error = await failure(ray.get(refs, { timeoutMs }));
      assert.deepEqual([error.pythonType, error.rayType], ['ValueError', 'RayTaskError']);
      assert.match(error.pythonTraceback, /probe\.py", line \d+, in fail/);
    });

    test('many objects of which one is late are a timeout, and wait names the late one', async () => {
      const late = await ray.task(probe('sleep'), [60], { maxRetries: 0, numCpus: 0 });
      const there = await ray.put(1);
      await assert.rejects(ray.get([there, late], { timeoutMs: 300 }), RayTimeoutError);
      assert.deepEqual(await ray.wait([late, there], { timeoutMs }), { ready: [there], pending: [late] });
      const both = await ray.wait([late, there], { numReturns: 2, timeoutMs: 1_000 });
      assert.deepEqual(both, { ready: [there], pending: [late] });
      await ray.cancel(late, { force: true });
      await failure(ray.get(late, { timeoutMs }));
    });

    test('many objects that one task returns are got', async () => {
      const three = sourceFunction('def f(n):\n    return tuple(range(n))\n', 'f');
      const refs = await ray.task(three, [3], { numReturns: 3 });
      assert.deepEqual(await ray.get(refs, { timeoutMs }), [0, 1, 2]);
      assert.deepEqual(await ray.call(three, [2], { numReturns: 2, timeoutMs }), [0, 1]);
      const error = await failure(ray.call(three, [2], { numReturns: 3, timeoutMs }));
      assert.equal(error.pythonType, 'ValueError');
    });
  });

  describe('a generator', () => {
    test('a generator function or method gives an error of its own, or its values if their number is stated', async () => {
      const isGeneratorError = (error: unknown) =>
        error instanceof RayGeneratorError && error.code === 'generator' && /numReturns/.test(error.message);
      const two = sourceFunction('def two():\n    yield 1\n    yield 2\n', 'two');
      await assert.rejects(ray.call(two, { timeoutMs }), isGeneratorError);
      assert.deepEqual(await ray.call(two, { numReturns: 2, timeoutMs }), [1, 2]);
      const Source = sourceActorClass('class Source:\n    def one(self):\n        yield 1\n', 'Source');
      const actor = await ray.createActor(Source, { numCpus: 0 });
      await assert.rejects(actor.call('one', { timeoutMs }), isGeneratorError);
      assert.deepEqual(await actor.call('one', { numReturns: 1, timeoutMs }), [1]);
      await actor.kill();
    });
  });

  describe('a package', () => {
    const zip = zipSync({ 'shipped/__init__.py': strToU8('def where():\n    return "shipped"\n') });

    test('a package of a module is importable in one task', async () => {
      const uri = await ray.uploadPackage(zip);
      assert.equal(uri, packageUri(zip));
      assert.equal(await ray.uploadPackage(zip), uri);
      const fn = sourceFunction('def f():\n    import shipped\n    return shipped.where()\n', 'f');
      assert.equal(await ray.call(fn, { runtimeEnv: { py_modules: [uri] }, timeoutMs }), 'shipped');
    });

    test('a package of a module is importable in a whole session', async () => {
      await using session = await connect(head.address, {
        ...head.credentials,
        packages: [zip],
        runtimeEnv: { py_modules: [packageUri(zip)] },
        reconnectGraceMs: 0,
        selfTest: false,
      });
      assert.equal(await session.call(functionRef('shipped:where'), { timeoutMs }), 'shipped');
    });
  });

  describe('an exception', () => {
    test('an exception of a task has its type, its message and its traceback', async () => {
      const error = await failure(ray.call(probe('fail'), ['value'], { timeoutMs }));
      assert.deepEqual(
        [error.pythonType, error.pythonModule, error.rayType],
        ['ValueError', 'builtins', 'RayTaskError'],
      );
      assert.equal(error.pythonMessage, 'bad value\nsecond line');
      assert.match(error.pythonTraceback, /probe\.py", line \d+, in fail/);
    });

    test('an exception of a class of the user has the name of its class', async () => {
      const error = await failure(ray.call(probe('fail'), ['home-made'], { timeoutMs }));
      assert.deepEqual([error.pythonType, error.pythonModule], ['HomeMade', 'probe']);
      assert.match(error.pythonMessage, /made at home/);
    });

    test('an exception from a task within a task arrives', async () => {
      const error = await failure(ray.call(probe('fail'), ['nested'], { timeoutMs }));
      assert.equal(error.pythonType, 'ValueError');
    });

    test('a result that does not pickle is an exception', async () => {
      const fn = sourceFunction('import threading\ndef f():\n    return threading.Lock()\n', 'f');
      const error = await failure(ray.call(fn, { timeoutMs }));
      assert.equal(error.pythonType, 'TypeError');
    });

    test('a result that cannot be read here is an exception, and the session continues', async () => {
      const fn = sourceFunction('import datetime\ndef f():\n    return datetime.date(2026, 1, 1)\n', 'f');
      await assert.rejects(ray.call(fn, { timeoutMs }), (error) => {
        return error instanceof RayPickleError && /datetime\.date/.test(error.message);
      });
      assert.equal(await ray.call(probe('add'), [1, 2], { timeoutMs }), 3);
    });

    test('code that is not there is an exception', async () => {
      const missing = await failure(ray.call(functionRef('no_such_module:f'), { timeoutMs }));
      assert.equal(missing.pythonType, 'ModuleNotFoundError');
      const name = await failure(ray.call(functionRef('probe:no_such_name'), { timeoutMs }));
      assert.equal(name.pythonType, 'AttributeError');
      const source = await failure(ray.call(sourceFunction('def f(:\n', 'f'), { timeoutMs }));
      assert.equal(source.pythonType, 'SyntaxError');
    });

    test('wrong arguments, options and nodes are exceptions', async () => {
      const arity = await failure(ray.call(probe('add'), [1, 2, 3], { timeoutMs }));
      assert.equal(arity.pythonType, 'TypeError');
      const options = await failure(ray.call(probe('add'), [1], { numCpus: 'many' as never, timeoutMs }));
      assert.match(options.pythonType, /TypeError|ValueError/);
      await assert.rejects(
        ray.call(probe('add'), [1], { schedulingStrategy: { nodeId: 'ff'.repeat(28) }, timeoutMs }),
        (error) => {
          return error instanceof RayRequestError && /no live node ffff/.test(error.message);
        },
      );
    });

    test('a process that died is an exception', async () => {
      const error = await failure(ray.call(probe('fail'), ['exit'], { maxRetries: 0, timeoutMs }));
      assert.equal(error.pythonType, 'WorkerCrashedError');
    });

    test('a task that was cancelled is an exception', async () => {
      const ref = await ray.task(probe('sleep'), [60], { maxRetries: 0 });
      await assert.rejects(ray.get(ref, { timeoutMs: 1_000 }), RayTimeoutError);
      await ray.cancel(ref, { force: true });
      const error = await failure(ray.get(ref, { timeoutMs }));
      assert.match(error.pythonType, /TaskCancelledError|WorkerCrashedError/);
      await ray.release(ref);
    });
  });
}
