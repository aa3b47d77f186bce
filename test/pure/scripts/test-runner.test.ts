import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Item } from '../../../scripts/test/items.ts';
import { readOptions, type TestOptions, UsageError } from '../../../scripts/test/options.ts';
import { pytestResult } from '../../../scripts/test/pytest.ts';
import { type Round, roundLines } from '../../../scripts/test/rounds.ts';
import { byTime, nextItem } from '../../../scripts/test/schedule.ts';
import type { Time } from '../../../scripts/test/times.ts';

const read = (...args: string[]) => readOptions(args) as TestOptions;

test('rounds, load and lanes are numbers, and once is the default', () => {
  const { rounds, load, lanes } = read('--repeat', '10', '--load=8', '--lanes=3');
  assert.deepEqual([rounds, load, lanes], [10, 8, 3]);
  assert.deepEqual([read().rounds, read().load, read().named], [1, 0, []]);
  assert.deepEqual(read('pure', 'service/cli').named, ['pure', 'service/cli']);
});

test('an unknown option, a wrong number and an option without its other one are refused by name', () => {
  for (const [args, message] of [
    [['--loops', '3'], /--loops/],
    [['--repeat', '0'], /--repeat is 0/],
    [['--repeat', 'ten'], /--repeat is ten/],
    [['--load', '8'], /--load .* --repeat/],
    [['--resume'], /--resume .* --repeat/],
  ] as const)
    assert.throws(
      () => readOptions(args),
      (error) => error instanceof UsageError && message.test(error.message),
    );
});

const TIMES: Record<string, Time> = {
  ray: { wall: 60, cpu: 30 },
  waits: { wall: 50, cpu: 1 },
  computes: { wall: 20, cpu: 20 },
  short: { wall: 1, cpu: 0.2 },
};
const items = Object.keys(TIMES).map((name): Item => ({ name, kind: 'shared' }));
const named = (...names: string[]): Item[] => names.map((name) => items.find((item) => item.name === name)!);
const timeOf = ({ name }: Item): Time => TIMES[name]!;
const next = (waiting: Item[], running: Item[], capacity = { cores: 1, items: 9 }): string | undefined =>
  nextItem(waiting, running, { timeOf, capacity })?.name;

test('the longest file for which the cores have room starts next', () => {
  assert.deepEqual(
    byTime(items.toReversed(), timeOf).map(({ name }) => name),
    ['ray', 'waits', 'computes', 'short'],
  );
  assert.equal(next(named('ray', 'waits'), []), 'ray');
  assert.equal(next(named('computes', 'short'), named('ray')), 'short');
  assert.equal(next(named('computes'), named('ray')), undefined);
  assert.equal(next(named('computes'), named('ray'), { cores: 2, items: 9 }), 'computes');
  assert.equal(next(named('short'), named('waits'), { cores: 2, items: 1 }), undefined);
});

test('a file that needs more than all cores starts alone', () => {
  assert.equal(next(named('computes'), [], { cores: 0.5, items: 9 }), 'computes');
});

const round = (isLoaded: boolean, ...failed: string[]): Round => ({
  isLoaded,
  failed,
  seconds: 480,
  cpuSeconds: 840,
  busy: 87,
  passed: 5_000,
});

test('the table of rounds has a row for each, and the rate of each test that failed', () => {
  const lines = roundLines([round(false), round(true, 'a', 'b'), round(false, 'b'), round(true, 'a')]);
  assert.equal(lines[0], 'round 1   quiet            480 s    840 CPU-s    87 % busy  5000 passed, 0 failed');
  assert.deepEqual(lines.slice(5), [
    'FLAKY 0 of 2 quiet rounds, 2 of 2 beside a load: a',
    'FLAKY 1 of 2 quiet rounds, 1 of 2 beside a load: b',
  ]);
  assert.deepEqual(roundLines([round(false)]).at(-1), 'No test failed in 1 rounds.');
  assert.deepEqual(roundLines([round(false, 'a')]).at(-1), 'FAILS 1 of 1 quiet rounds: a');
});

const PYTEST = `
tests/test_a.py::test_one PASSED
=========================== short test summary info ============================
SKIPPED [2] tests/test_a.py:9: could not import 'torch'
FAILED tests/test_a.py::test_two - assert 1 == 2
  + where 1 = one()
ERROR tests/test_a.py::test_three
==================== 1 failed, 1 passed, 2 skipped, 1 error in 0.1s ============
`;

test('the summary of pytest gives counts, reasons of skipped tests, and failures', () => {
  const item: Item = { name: 'tests/test_a.py', kind: 'pytest' };
  assert.deepEqual(pytestResult(item, { output: PYTEST, problem: 'it ended with 1' }), {
    passed: 1,
    skipped: ["could not import 'torch'", "could not import 'torch'"],
    failures: [
      { title: 'tests/test_a.py::test_two', reason: ['assert 1 == 2', '  + where 1 = one()'] },
      { title: 'tests/test_a.py::test_three', reason: [] },
    ],
  });
  const died = pytestResult(item, { output: 'Segmentation fault', problem: 'it ended with SIGSEGV' });
  assert.deepEqual(died.failures, [
    { title: 'tests/test_a.py', reason: ['it ended with SIGSEGV', 'Segmentation fault'] },
  ]);
});
