import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ended } from '../../../src/core/events.ts';
import { endOfRun } from '../../../src/engines/external-run.ts';

const ENDED: Ended = {
  type: 'ended',
  cause: 'succeeded',
  exitCode: 0,
  signal: 0,
  message: '',
  lastLines: [],
};

test('the reported end decides; silence is a failure', () => {
  assert.equal(endOfRun(ENDED).to, 'succeeded');
  assert.deepEqual(endOfRun({ ...ENDED, cause: 'killed' }), {
    to: 'failed',
    reason: 'the client reported the end "killed"',
  });
  assert.equal(endOfRun(null).to, 'failed');
});
