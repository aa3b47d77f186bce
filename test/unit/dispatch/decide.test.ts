import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { END_CAUSES, type EndCause, type Ended } from '../../../src/core/events.ts';
import { decide, endInWords, lostAttempt } from '../../../src/dispatch/decide.ts';

function ended(cause: EndCause, more: Partial<Ended> = {}): Ended {
  return { ...lostAttempt(''), cause, ...more };
}

describe('decide', () => {
  test('leads each cause where it belongs, with attempts left', () => {
    const leads = Object.fromEntries(
      END_CAUSES.map((cause) => [
        cause,
        decide(ended(cause), { attempt: 1, maxAttempts: 3, cancelling: false }).to,
      ]),
    );
    assert.deepEqual(leads, {
      succeeded: 'succeeded',
      failed: 'failed',
      stopped: 'failed',
      killed: 'queued',
      'out-of-memory': 'failed',
      'supervisor-lost': 'queued',
      'not-started': 'queued',
      'node-lost': 'queued',
    });
  });

  test('tries nothing again after the last attempt', () => {
    const decision = decide(ended('killed'), { attempt: 3, maxAttempts: 3, cancelling: false });
    assert.equal(decision.to, 'failed');
    assert.match(decision.reason, /attempt 3 of 3/);
  });

  test('cancels, however the driver ended', () => {
    for (const cause of END_CAUSES)
      assert.equal(decide(ended(cause), { attempt: 1, maxAttempts: 3, cancelling: true }).to, 'cancelled');
  });
});

test('an end is told in words, with its number', () => {
  assert.match(endInWords(ended('failed', { exitCode: 3 })), /failed \(exit code 3\)$/);
  assert.match(endInWords(ended('killed', { signal: 9, message: 'm' })), /\(signal 9\): m$/);
});
