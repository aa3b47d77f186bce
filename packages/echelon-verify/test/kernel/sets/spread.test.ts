import assert from 'node:assert/strict';
import { test } from 'node:test';
import { divisor } from '../../../src/kernel/sets/spread.ts';

test('divisor: population and sample, and the four places of epsilon', () => {
  const spread = { deviation: 'population', epsilon: 0.5, epsilonPlace: 'added' } as const;
  assert.equal(divisor(spread, 8, 2), 2.5);
  assert.equal(divisor({ ...spread, deviation: 'sample' }, 4, 2), 2.5);
  assert.equal(divisor({ ...spread, epsilonPlace: 'floor' }, 0.02, 2), 0.5);
  assert.equal(divisor({ ...spread, epsilonPlace: 'floor' }, 8, 2), 2);
  assert.equal(divisor({ ...spread, epsilonPlace: 'variance-added', epsilon: 5 }, 8, 2), 3);
  assert.equal(divisor({ ...spread, epsilonPlace: 'variance-floor', epsilon: 9 }, 8, 2), 3);
});
