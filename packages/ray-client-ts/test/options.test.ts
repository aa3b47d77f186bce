import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RayGeneratorError } from '../src/errors.ts';
import { encodeOptions } from '../src/options.ts';
import { readPickle } from '../src/pickle/reader.ts';
import { PyDict, PyGlobal, type PyObject, PyReadTuple } from '../src/pickle/values.ts';

const read = (options: Parameters<typeof encodeOptions>[0]): PyDict => {
  const dict = readPickle(encodeOptions(options) ?? new Uint8Array(0));
  assert.ok(dict instanceof PyDict);
  return dict;
};

test('options become the keyword arguments of Python', () => {
  const dict = read({
    numCpus: 1,
    numGpus: 0.5,
    memoryBytes: 1000,
    maxRestarts: -1,
    maxTaskRetries: 2,
    maxConcurrency: 4,
    name: 'n',
    namespace: 'ns',
    lifetime: 'detached',
    getIfExists: true,
    resources: { disk: 1 },
    runtimeEnv: { env_vars: { A: 'b' } },
  });
  const plain = Object.fromEntries(dict.entries.filter(([, value]) => !(value instanceof PyDict)));
  assert.deepEqual(plain, {
    num_cpus: 1,
    num_gpus: 0.5,
    memory: 1000,
    max_restarts: -1,
    max_task_retries: 2,
    max_concurrency: 4,
    name: 'n',
    namespace: 'ns',
    lifetime: 'detached',
    get_if_exists: true,
  });
  assert.equal((dict.get('resources') as PyDict).get('disk'), 1);
  assert.equal(((dict.get('runtime_env') as PyDict).get('env_vars') as PyDict).get('A'), 'b');
});

test('a node is a hard affinity', () => {
  const strategy = read({ schedulingStrategy: { nodeId: 'ab12' } }).get('scheduling_strategy') as PyObject;
  assert.deepEqual(
    strategy.callable,
    new PyGlobal('ray.util.scheduling_strategies', 'NodeAffinitySchedulingStrategy'),
  );
  assert.deepEqual(strategy.args, new PyReadTuple(['ab12', false]));
});

test('nothing asked for is nothing sent; an unknown option is refused', () => {
  assert.equal(encodeOptions({}), undefined);
  assert.throws(() => encodeOptions({ numCpu: 1 } as never), /"numCpu" is no option/);
  assert.throws(() => encodeOptions({ toString: 1 } as never), /"toString" is no option/);
});

test('a stream of values is refused with an error of its own; other numbers of values that are none with a TypeError', () => {
  for (const numReturns of ['streaming', 'dynamic'])
    assert.throws(() => encodeOptions({ numReturns } as never), RayGeneratorError);
  assert.throws(() => encodeOptions({ numReturns: 1.5 } as never), /whole number/);
});
