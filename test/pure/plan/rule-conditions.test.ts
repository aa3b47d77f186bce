import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holds, type Subject } from '../../../src/plan/rule-conditions.ts';
import type { RuleCondition } from '../../../src/schemas/rules.ts';

function series(when: RuleCondition, values: readonly (number | string)[]): boolean[] {
  const subject: Subject = { streak: 0, last: [] };
  return values.map((value, at) => holds(when, subject, { name: 'x', step: at, value, batch: null }));
}

test('a condition holds for a value above, below or not finite, or for a finding', () => {
  assert.deepEqual(series({ metric: ['x'], above: 1 }, [1, 2, 'NaN', 'Infinity']), [
    false,
    true,
    false,
    true,
  ]);
  assert.deepEqual(series({ metric: ['x'], below: 1 }, [1, 0, 'NaN', '-Infinity']), [
    false,
    true,
    false,
    true,
  ]);
  assert.deepEqual(series({ metric: ['x'], notFinite: true }, [1, 'NaN', 'Infinity']), [false, true, true]);
  assert.deepEqual(series({ errors: ['any'] }, ['', 'step-gap']), [false, true]);
});

test('a plateau condition holds after `window` values without an improvement', () => {
  const flat = (window: number, minDelta: number, goal?: 'max' | 'min'): RuleCondition => ({
    metric: ['x'],
    plateau: { window, minDelta, ...(goal && { goal }) },
  });
  assert.deepEqual(series(flat(2, 0), [1, 1, 1, 2, 2]), [false, false, true, false, false]);
  assert.deepEqual(series(flat(1, 1), [1, 2, 2.5]), [false, true, false]);
  assert.deepEqual(series(flat(1, 0, 'min'), [2, 1, 'NaN', 0]), [false, false, true, false]);
  assert.deepEqual(series(flat(1, 0), ['NaN']), [true]);
});
