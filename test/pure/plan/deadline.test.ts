import assert from 'node:assert/strict';
import { test } from 'node:test';
import { specProblems } from '../../../src/engines/validate-spec.ts';
import { deadlineProblems, resolveDeadline } from '../../../src/plan/deadline.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';

test('a deadline is stored in UTC with milliseconds', () => {
  assert.equal(resolveDeadline(undefined), null);
  assert.equal(resolveDeadline('2027-01-31T18:00:00+02:00'), '2027-01-31T16:00:00.000Z');
  assert.equal(resolveDeadline('2027-01-31t18:00:00.5z'), '2027-01-31T18:00:00.500Z');
  const { spec, defaults } = resolveSpec({ engine: 'replay', name: 'x', deadline: '2027-01-31T18:00:00Z' });
  assert.equal(spec.deadline, '2027-01-31T18:00:00.000Z');
  assert.ok(defaults.includes('/timeoutSeconds') && !defaults.includes('/deadline'));
});

test('a deadline that is not a date-time with a time zone is refused', () => {
  for (const deadline of ['tomorrow', '2027-01-31', '2027-01-31T18:00:00', '2027-13-01T00:00:00Z', 1])
    assert.deepEqual(
      specProblems({ engine: 'replay', name: 'x', deadline }).map(({ field }) => field),
      ['/deadline'],
    );
  assert.equal(deadlineProblems('2027-02-29T00:00:00Z')[0]?.field, '/deadline');
  assert.deepEqual(deadlineProblems('2028-02-29T23:59:59Z'), []);
});
