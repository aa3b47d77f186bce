import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTally } from '../../../scripts/test/tally.ts';

test('a tally has the rate of each test that failed, apart for rounds beside a load', () => {
  const tally = createTally();
  const failure = ['test/a.test.ts:1 now and then', '    because of this', '    test/other.ts:2'];
  tally.add([], false);
  tally.add([...failure, ...failure, 'FAILED test_b.py::test_always - because of this'], true);
  tally.add(['FAILED test_b.py::test_always - because of that'], false);
  tally.add([...failure, 'FAILED test_b.py::test_always - this'], true);
  assert.deepEqual(tally.lines(), [
    'FLAKY 1 of 2 quiet rounds, 2 of 2 beside a load: FAILED test_b.py::test_always',
    'FLAKY 0 of 2 quiet rounds, 2 of 2 beside a load: test/a.test.ts:1 now and then',
  ]);
});

test('a test that fails in every round is not called flaky', () => {
  const tally = createTally();
  for (let round = 0; round < 3; round += 1) tally.add(['test/a.test.ts:1 always'], false);
  assert.deepEqual(tally.lines(), ['FAILS 3 of 3 quiet rounds: test/a.test.ts:1 always']);
});
