// Runs the test suites one after another. Arguments: names of suites (all but `full` where none is named), --full.
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';

/** A suite: its files, and how many of them run at once (those that start Ray, one by one). */
const SUITES = [
  { name: 'unit', files: 'test/unit/**/*.test.ts', concurrency: 2 },
  { name: 'python', files: 'deploy/ray-worker/tests/**/test_*.py', concurrency: 1 },
  { name: 'contract', files: 'test/contract/!(ray-python)/**/*.test.ts', concurrency: 1 },
  { name: 'integration', files: 'test/integration/!(ray)/**/*.test.ts', concurrency: 2 },
  { name: 'ray', files: 'test/{integration/ray,contract/ray-python}/**/*.test.ts', concurrency: 1 },
  { name: 'faults', files: 'test/faults/**/*.test.ts', concurrency: 1 },
  { name: 'e2e', files: 'test/e2e/**/*.test.ts', concurrency: 1 },
  { name: 'full', files: 'test/full/**/*.test.ts', concurrency: 1 },
];

const TEST_TIMEOUT_MS = 180_000;

function run(suite: (typeof SUITES)[number]): boolean {
  const files = globSync(suite.files).sort();
  if (files.length === 0) return true;
  const [command, args] =
    suite.name === 'python'
      ? ['.venv/bin/python', ['-m', 'pytest', '-rs', '--rootdir', 'deploy/ray-worker', ...files]]
      : [
          process.execPath,
          [
            '--test',
            `--test-concurrency=${suite.concurrency}`,
            `--test-timeout=${TEST_TIMEOUT_MS}`,
            ...files,
          ],
        ];
  // CI=true makes libraries colour their output, which the tests compare.
  const env = {
    ...process.env,
    NO_COLOR: '1',
    // Every file is a process of its own that loads the same modules: stripped and compiled once, not hundreds of times.
    NODE_COMPILE_CACHE: '.cache/node-compile',
    ...(suite.name === 'python' && { PYTHONPATH: 'deploy/ray-worker' }),
  };
  return (
    spawnSync(command as string, args as string[], { stdio: ['ignore', 'inherit', 'inherit'], env })
      .status === 0
  );
}

const args = process.argv.slice(2);
const named = args.filter((arg) => !arg.startsWith('--'));
const unknown = named.filter((name) => !SUITES.some((suite) => suite.name === name));
if (unknown.length > 0) {
  console.error(
    `no suite named ${unknown.join(', ')}; there are ${SUITES.map(({ name }) => name).join(', ')}`,
  );
  process.exit(2);
}
const chosen = SUITES.filter(({ name }) =>
  named.length > 0 ? named.includes(name) : name !== 'full' || args.includes('--full'),
);
const results = chosen.map((suite) => {
  const started = Date.now();
  console.log(`\n=== ${suite.name}`);
  const ok = run(suite);
  return { name: suite.name, ok, seconds: ((Date.now() - started) / 1000).toFixed(0) };
});
console.log(
  `\n${results.map(({ name, ok, seconds }) => `${ok ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`).join('\n')}`,
);
process.exit(results.every(({ ok }) => ok) ? 0 : 1);
