import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ended } from '../../../../../src/core/events.ts';
import { lostAttempt } from '../../../../../src/dispatch/attempt/decide.ts';
import type { Attempt } from '../../../../../src/store/attempts/types.ts';
import { attemptBench, STOPPED } from '../../../../support/attempt-bench.ts';

test('stopped attempts and given-up attempts are not counted', async () => {
  const killed = async function* () {
    yield { sequence: 1, at: 0, event: { ...lostAttempt(''), cause: 'killed' } as Ended };
  };
  for (const [earlier, led] of [
    [[], 'failed'],
    [[{ attempt: 2, ended: null, givenUpAt: null }], 'failed'],
    [[{ attempt: 2, ended: STOPPED, givenUpAt: null }], 'queued'],
    [[{ attempt: 2, ended: null, givenUpAt: 1 }], 'queued'],
  ] as const) {
    const { state, run } = attemptBench({ confirmed: true, state: 'running', attempt: 3 });
    state.earlier = earlier as unknown as Attempt[];
    state.events = killed;
    assert.equal(await run().done, led);
  }
});
