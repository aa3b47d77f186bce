import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitingFields } from '../../../../../src/http/resources/queues/waiting.ts';

test('a queued experiment shows its estimated start, or why it has none', () => {
  const estimate = { startAt: 3, earliest: 2, latest: 4 };
  assert.deepEqual(waitingFields({ reason: 'r', estimate }), { estimate, noEstimate: null });
  assert.equal(waitingFields({ reason: 'r', unknown: 'who knows' }).noEstimate, 'who knows');
  assert.match(waitingFields({ reason: null }).noEstimate ?? '', /no scheduling round has read/);
  assert.match(waitingFields({ reason: 'r' }).noEstimate ?? '', /found no estimate/);
});
