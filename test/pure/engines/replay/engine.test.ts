import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REPLAY } from '../../../../src/engines/replay/engine.ts';
import { REPLAY_FAULTS, type ReplaySpec } from '../../../../src/engines/replay/spec.ts';
import { compilePlan } from '../../../../src/plan/compile-plan.ts';
import { resolveSpec } from '../../../../src/plan/resolve-spec.ts';

const plan = (spec: ReplaySpec) => compilePlan(resolveSpec(spec).spec);

test('the plan of a replay passes every value, for every fault', () => {
  for (const fault of REPLAY_FAULTS) {
    assert.deepEqual(plan({ engine: 'replay', name: 'x', replay: { fault, delaySeconds: 0.1 } }).arguments, [
      `fault=${fault}`,
      'batches=0',
      'delay_ms=100',
      'stop_after=0',
      'exit_code=0',
      'log_lines=0',
      'hang=false',
      'ignore_sigterm=false',
    ]);
  }
});

test('a replay has no fingerprint, because its record states the estimator', () => {
  assert.equal(REPLAY.fingerprint(REPLAY.resolve({ engine: 'replay', name: 'x' })), null);
});
