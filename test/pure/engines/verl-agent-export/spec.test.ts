import assert from 'node:assert/strict';
import { test } from 'node:test';
import { specProblems } from '../../../../src/engines/validate-spec.ts';

const fields = (more: object) =>
  specProblems({
    ...{ engine: 'verl-agent-export', name: 'x', checkpoint: { directory: 'p/run' } },
    ...more,
  }).map(({ field }) => field);

test('an export is stored below the directory of exports, and uses no GPU', () => {
  assert.deepEqual(fields({ output: 'team/model-1.5b' }), []);
  for (const output of ['', '/models', '../models', 'a/../../b', '.hidden', 'a b'])
    assert.deepEqual(fields({ output }), ['/output'], output);
  assert.deepEqual(fields({ resources: { gpus: 1 } }), ['/resources/gpus']);
});
