import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EchelonError } from '../../../../src/core/errors.ts';
import { attemptBench, fails, silence } from '../../../support/attempt-bench.ts';
import { until } from '../../../support/dispatch.ts';

describe('the context of an attempt', () => {
  test('after the lease is lost, settle writes nothing', async () => {
    const { state, calls, run } = attemptBench();
    state.events = silence;
    const attempt = run();
    await attempt.placed;
    await until(() => calls.includes('attach 1 after 0'), 'it is followed');
    const before = [...calls];
    attempt.drop();
    attempt.cancel();
    assert.equal(await attempt.done, null);
    assert.deepEqual(calls, before);
    const refused = attemptBench();
    refused.state.appendError = new EchelonError('lease-lost', 'lost');
    assert.equal(await refused.run().done, null);
    assert.ok(!refused.calls.some((call) => call.startsWith('end') || call.startsWith('stop')));
  });

  test('an answer to a launch, good or bad, and a full lease time settle the attempt', async () => {
    const refused = attemptBench();
    refused.state.launch = fails('exhausted');
    await refused.run().done;
    assert.equal(refused.state.settled, 1);
    const waiting = attemptBench();
    waiting.state.launch = () => new Promise<never>(() => {});
    const attempt = waiting.run();
    await until(() => waiting.calls.includes('launch 1'), 'it is being launched');
    attempt.renewed(60_000);
    assert.equal(waiting.state.settled, 0);
    attempt.renewed(-1);
    attempt.renewed(-1);
    assert.equal(waiting.state.settled, 1);
    attempt.drop();
  });
});
