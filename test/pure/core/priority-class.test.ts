import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fromRank, PRIORITY_CLASSES, rankOf } from '../../../src/core/priority-class.ts';

const priorities = fc.record({
  priority: fc.integer({ min: -100, max: 100 }),
  priorityClass: fc.constantFrom(...PRIORITY_CLASSES),
});

test('a rank orders by class, then by priority, and gives both back', () => {
  fc.assert(
    fc.property(priorities, priorities, (a, b) => {
      assert.deepEqual(fromRank(rankOf(a)), { ...a });
      const [classA, classB] = [a, b].map((one) => PRIORITY_CLASSES.indexOf(one.priorityClass)) as [
        number,
        number,
      ];
      assert.equal(Math.sign(rankOf(a) - rankOf(b)), Math.sign(classA - classB || a.priority - b.priority));
    }),
  );
  assert.equal(rankOf({ priority: 7 }), 7);
});
