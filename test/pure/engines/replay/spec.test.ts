import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REPLAY_FAULTS } from '../../../../src/engines/replay/spec.ts';
import { specProblems } from '../../../../src/engines/validate-spec.ts';

test('a replay spec accepts every known fault and no other', () => {
  const problems = (fault: string) => specProblems({ engine: 'replay', name: 'x', replay: { fault } });
  assert.ok(REPLAY_FAULTS.includes('none'));
  for (const fault of REPLAY_FAULTS) assert.deepEqual(problems(fault), []);
  assert.deepEqual(
    problems('unknown').map(({ field }) => field),
    ['/replay/fault'],
  );
});
