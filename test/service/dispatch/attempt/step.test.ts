import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EchelonError } from '../../../../src/core/errors.ts';
import { attemptBench } from '../../../support/attempt-bench.ts';

test('a step is retried until the store is back', async () => {
  const { state, run } = attemptBench();
  state.appendError = new EchelonError('store-unavailable', 'away');
  state.endError = new EchelonError('store-unavailable', 'away');
  const attempt = run();
  await attempt.placed;
  state.appendError = null;
  state.endError = null;
  assert.equal(await attempt.done, 'succeeded');
});
