import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startsIn } from '../../../src/cli/states.ts';

test('an estimated start is shown with its bounds, an unknown one as ?', () => {
  const minute = 60_000;
  const estimate = { startAt: 12 * minute, earliest: 8 * minute, latest: 20 * minute };
  assert.equal(startsIn(estimate, 0), '12 min (8 min to 20 min)');
  assert.equal(startsIn(null, 0), '?');
});
