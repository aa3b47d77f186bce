import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { answerRelay, openRelay } from '../../../scripts/relay.mjs';
import { readOptions, type TestOptions, UsageError } from '../../../scripts/test/options.ts';
import { createTally } from '../../../scripts/test/tally.ts';

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

test('a request to the port of a relay reaches the server behind its socket', async (t) => {
  const server = createServer((_request, response) => response.end('from the namespace'));
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port, socket } = await openRelay(0);
  answerRelay({ port: (server.address() as AddressInfo).port, socket });
  const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } });
  assert.equal(await answer.text(), 'from the namespace');
});

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
