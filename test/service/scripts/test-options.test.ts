import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { readOptions, type TestOptions, UsageError } from '../../../scripts/test/options.ts';

const read = (...args: string[]) => readOptions(args) as TestOptions;
const namesOf = ({ suites }: TestOptions) => suites.map(({ name }) => name);

test('the suites are those named, or all but full', () => {
  assert.ok(!namesOf(read()).includes('full'));
  assert.ok(namesOf(read('--full')).includes('full'));
  assert.deepEqual(namesOf(read('service/cli', 'browser')), ['service/cli', 'browser']);
  assert.ok(namesOf(read('service')).every((name) => name.startsWith('service/')));
});

test('rounds, load and lanes are numbers, and once is the default', () => {
  const { rounds, load, lanes } = read('--repeat', '10', '--load=8', '--lanes=3');
  assert.deepEqual([rounds, load, lanes], [10, 8, 3]);
  assert.deepEqual([read().rounds, read().load], [1, 0]);
});

test('an unknown option, an unknown suite and a wrong number are refused by name', () => {
  for (const [args, message] of [
    [['--loops', '3'], /--loops/],
    [['service/htp'], /No suite is named service\/htp; there are .*service\/http/],
    [['--repeat', '0'], /--repeat is 0/],
    [['--repeat', 'ten'], /--repeat is ten/],
    [['--load', '8'], /--load .* needs --repeat/],
  ] as const)
    assert.throws(
      () => readOptions(args),
      (error) => error instanceof UsageError && message.test(error.message),
    );
});

test('the command prints its help without running a suite', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/test.ts', '--help']);
  assert.match(stdout, /^usage: npm test/);
  assert.ok(!stdout.includes('=== '));
});
