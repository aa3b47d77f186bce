import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EchelonError } from '../../../../src/core/errors.ts';
import { silence, storyBench } from '../../../support/attempt-story.ts';
import { until } from '../../../support/dispatch.ts';

describe('the steps of a story', () => {
  test('touches nothing once the lease is lost', async () => {
    const { state, calls, run } = storyBench();
    state.events = silence;
    const story = run();
    await story.placed;
    await until(() => calls.includes('attach 1 after 0'), 'it is followed');
    const before = [...calls];
    story.drop();
    story.cancel();
    assert.equal(await story.done, null);
    assert.deepEqual(calls, before);
    const refused = storyBench();
    refused.state.appendError = new EchelonError('lease-lost', 'lost');
    assert.equal(await refused.run().done, null);
    assert.ok(!refused.calls.some((call) => call.startsWith('end') || call.startsWith('stop')));
  });

  test('waits out a store that is away', async () => {
    const { state, run } = storyBench();
    state.appendError = new EchelonError('store-unavailable', 'away');
    state.endError = new EchelonError('store-unavailable', 'away');
    const story = run();
    await story.placed;
    state.appendError = null;
    state.endError = null;
    assert.equal(await story.done, 'succeeded');
  });
});
