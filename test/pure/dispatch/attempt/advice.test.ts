import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryAdvice } from '../../../../src/dispatch/attempt/decide.ts';

test('memory advice names the settings for the memory that ran out', () => {
  const gpu = memoryAdvice('verl-agent', 'a GPU ran out of memory (exit code 1)');
  for (const word of ['microBatchSizePerGpu', 'gpuMemoryUtilization', 'parameterOffload', 'to true'])
    assert.ok(gpu.includes(word), gpu);
  const host = memoryAdvice('verl-agent', 'killed by the kernel for memory');
  assert.match(host, /^lower \/rollout\/groups or .* to false$/);
  assert.equal(
    memoryAdvice('local', 'killed by the kernel for memory'),
    'lower /rollout/groups, /rollout/groupSize or /environment/maxSteps',
  );
  assert.equal(memoryAdvice('replay', 'x'), '');
  assert.equal(memoryAdvice('unknown', 'x'), '');
});
