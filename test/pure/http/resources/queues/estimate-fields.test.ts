import assert from 'node:assert/strict';
import { test } from 'node:test';
import { estimateFields } from '../../../../../src/http/resources/queues/estimate-fields.ts';

test('a queued experiment shows its estimated start, or why it has none', () => {
  const estimate = { startAt: 3, earliest: 2, latest: 4 };
  assert.deepEqual(estimateFields({ reason: 'r', estimate }), { estimate, noEstimate: null });
  assert.equal(estimateFields({ reason: 'r', unknown: 'who knows' }).noEstimate, 'who knows');
  assert.match(estimateFields({ reason: null }).noEstimate ?? '', /no scheduling round has read/);
  assert.match(estimateFields({ reason: 'r' }).noEstimate ?? '', /found no estimate/);
});
