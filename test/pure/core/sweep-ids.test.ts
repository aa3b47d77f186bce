import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  childId,
  EXPERIMENT_ID,
  MAX_CHILDREN,
  MAX_RUNS,
  newSweepId,
  SWEEP_ID,
} from '../../../src/core/ids.ts';

test('ids of sweeps have their form and differ', () => {
  const ids = Array.from({ length: 1000 }, newSweepId);
  assert.ok(ids.every((id) => SWEEP_ID.test(id)));
  assert.equal(new Set(ids).size, 1000);
});

test('every run of every child has an experiment id of its own, always the same', () => {
  const sweep = newSweepId();
  const place = fc.tuple(fc.nat({ max: MAX_CHILDREN - 1 }), fc.nat({ max: MAX_RUNS - 1 }));
  fc.assert(
    fc.property(place, place, ([a, b], [c, d]) => {
      const [left, right] = [childId(sweep, a, b), childId(sweep, c, d)];
      assert.match(left, EXPERIMENT_ID);
      assert.equal(left === right, a === c && b === d);
    }),
    {
      examples: [
        [
          [9999, 63],
          [9999, 62],
        ],
        [
          [1, 0],
          [0, 63],
        ],
      ],
    },
  );
});
