import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EchelonError } from '../../../src/core/errors.ts';
import { specProblems } from '../../../src/engines/validate-spec.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';

const resolved = (deadline?: string) =>
  resolveSpec({ engine: 'replay', name: 'x', ...(deadline !== undefined && { deadline }) });

test('a deadline is stored in UTC with milliseconds', () => {
  assert.equal(resolved().spec.deadline, null);
  assert.equal(resolved('2027-01-31T18:00:00+02:00').spec.deadline, '2027-01-31T16:00:00.000Z');
  assert.equal(resolved('2027-01-31t18:00:00.5z').spec.deadline, '2027-01-31T18:00:00.500Z');
  const { spec, defaults } = resolved('2027-01-31T18:00:00Z');
  assert.equal(spec.deadline, '2027-01-31T18:00:00.000Z');
  assert.ok(defaults.includes('/timeoutSeconds') && !defaults.includes('/deadline'));
});

test('a deadline that is not a date-time with a time zone is refused', () => {
  for (const deadline of ['tomorrow', '2027-01-31', '2027-01-31T18:00:00', '2027-13-01T00:00:00Z', 1])
    assert.deepEqual(
      specProblems({ engine: 'replay', name: 'x', deadline }).map(({ field }) => field),
      ['/deadline'],
    );
  assert.throws(
    () => resolved('2027-02-29T00:00:00Z'),
    ({ problems }: EchelonError) => problems[0]?.field === '/deadline',
  );
  assert.equal(resolved('2028-02-29T23:59:59Z').spec.deadline, '2028-02-29T23:59:59.000Z');
});
