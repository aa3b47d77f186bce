import { globSync } from 'node:fs';

/** A part of the tests that runs by one command. */
export interface Suite {
  readonly name: string;
  readonly files: string;
  /** Its files share a process, which loads the modules that they test once. Otherwise each file has its own. */
  readonly together?: true;
  /** For pytest: which marks its tests have. */
  readonly marked?: string;
}

/** The longest first, so that none of them is the last to begin. `service` names all suites whose names begin so. */
export const SUITES: readonly Suite[] = [
  { name: 'python-ray', files: 'deploy/ray-worker/tests/**/test_*.py', marked: 'ray' },
  { name: 'service/faults', files: 'test/{service/{faults,campaign},system/faults}/**/*.test.ts' },
  { name: 'ray', files: 'packages/ray-client-ts/test/with-*/**/*.test.ts', together: true },
  {
    name: 'service/rest',
    files: 'test/service/!(store|queue|dispatch|http|cli|faults|campaign|package)/**/*.test.ts',
    together: true,
  },
  // In one process, which builds the packages once.
  { name: 'service/package', files: 'test/service/package/**/*.test.ts', together: true },
  { name: 'service/dispatch', files: 'test/service/dispatch/**/*.test.ts', together: true },
  { name: 'python', files: 'deploy/ray-worker/tests/**/test_*.py', marked: 'not ray' },
  { name: 'python-capture', files: 'deploy/capture/tests/**/test_*.py', marked: 'not ray' },
  { name: 'python-verify', files: 'deploy/python/tests/**/test_*.py', marked: 'not ray' },
  { name: 'system', files: 'test/system/*.test.ts' },
  { name: 'service/store', files: 'test/service/{store,queue}/**/*.test.ts', together: true },
  { name: 'service/http', files: 'test/service/http/**/*.test.ts', together: true },
  { name: 'service/cli', files: 'test/service/cli/**/*.test.ts', together: true },
  { name: 'packages', files: 'packages/*/test/{*.test.ts,!(with-*)/**/*.test.ts}', together: true },
  { name: 'pure', files: 'test/pure/**/*.test.ts', together: true },
  { name: 'browser', files: 'test/system/browser/**/*.test.ts' },
  { name: 'full', files: 'test/system/full/**/*.test.ts' },
];

const TEST_TIMEOUT_MS = 180_000;

/** The command of a suite; undefined if it has no files. A suite of Node writes the tests that fail to `failed`. */
export function commandOf(suite: Suite, failed: string): [string, ...string[]] | undefined {
  const files = globSync(suite.files).sort();
  if (files.length === 0) return undefined;
  if (suite.marked !== undefined) {
    const options = ['-rfEs', '-m', suite.marked, '--rootdir', 'deploy/ray-worker'];
    return ['.venv/bin/python', '-m', 'pytest', ...options, ...files];
  }
  return [
    process.execPath,
    `--test-timeout=${TEST_TIMEOUT_MS}`,
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    '--test-reporter=./scripts/test/failed-tests.ts',
    `--test-reporter-destination=${failed}`,
    ...(suite.together ? ['scripts/test/together.ts'] : ['--test', '--test-concurrency=1']),
    ...files,
  ];
}

/** The environment of a suite, beside that of the process. */
export function environmentOf(suite: Suite): Record<string, string> {
  return {
    // CI=true makes libraries colour their output, which the tests compare.
    NO_COLOR: '1',
    // Many processes load the same modules: stripped and compiled once, not once in each.
    NODE_COMPILE_CACHE: '.cache/node-compile',
    // Ray makes its processes nice: beside other suites they would starve.
    RAY_worker_niceness: '0',
    // With CI pytest does not cut what it says of failures.
    ...(suite.marked !== undefined && {
      PYTHONPATH: 'deploy/ray-worker:deploy/capture:deploy/python',
      CI: 'true',
    }),
  };
}
