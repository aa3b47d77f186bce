import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REPLAY, REPLAY_FAULTS } from '../../../src/engines/replay/engine.ts';
import { specProblems } from '../../../src/engines/validate-spec.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';

test('a replay of every fault resolves with every value', () => {
  for (const fault of REPLAY_FAULTS) {
    const { spec } = resolveSpec({ engine: 'replay', name: 'x', replay: { fault, delaySeconds: 0.1 } });
    assert.ok(spec.engine === 'replay');
    assert.deepEqual(spec.replay, {
      fault,
      batches: 0,
      delaySeconds: 0.1,
      stopAfter: 0,
      exitCode: 0,
      logLines: 0,
      hang: false,
      ignoreSigterm: false,
    });
  }
});

test('a replay has no fingerprint, because its record states the estimator', () => {
  assert.equal(REPLAY.fingerprint(REPLAY.resolve({ engine: 'replay', name: 'x' })), null);
});

test('a replay spec accepts every known fault and no other', () => {
  const problems = (fault: string) => specProblems({ engine: 'replay', name: 'x', replay: { fault } });
  assert.ok(REPLAY_FAULTS.includes('none'));
  for (const fault of REPLAY_FAULTS) assert.deepEqual(problems(fault), []);
  assert.deepEqual(
    problems('unknown').map(({ field }) => field),
    ['/replay/fault'],
  );
});
