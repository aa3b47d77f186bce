import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MEMORY_SETTINGS, memoryAdvice } from '../../../../src/dispatch/attempt/advice.ts';
import { SPEC_BY_ENGINE } from '../../../../src/schemas/spec.ts';

type Shape = { properties?: Record<string, Shape> };

test('every setting that is named is a field of its engine', () => {
  assert.deepEqual(Object.keys(MEMORY_SETTINGS).sort(), Object.keys(SPEC_BY_ENGINE).sort());
  for (const [engine, schema] of Object.entries(SPEC_BY_ENGINE))
    for (const pointer of Object.values(MEMORY_SETTINGS[engine]!).flat()) {
      const [section, field] = pointer.slice(1).split('/') as [string, string];
      const found = (schema as Shape).properties?.[section]?.properties?.[field];
      assert.ok(found, `${engine} has no ${pointer}`);
    }
});

test('names what helps against the memory that was short', () => {
  const gpu = memoryAdvice('verl-agent', 'a GPU ran out of memory (exit code 1)');
  for (const word of ['microBatchSizePerGpu', 'gpuMemoryUtilization', 'parameterOffload', 'to true'])
    assert.ok(gpu.includes(word), gpu);
  const host = memoryAdvice('verl-agent', 'killed by the kernel for memory');
  assert.match(host, /^lower \/rollout\/groups or .* to false$/);
  assert.match(
    memoryAdvice('local', 'killed by the kernel for memory'),
    /\/rollout\/groupSize, or \/environment/,
  );
  assert.equal(memoryAdvice('replay', 'x'), '');
  assert.equal(memoryAdvice('unknown', 'x'), '');
});
