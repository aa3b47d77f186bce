// Runs the test suites, several at a time. Arguments: names of suites (default: all but `full`), --full,
// --lanes=N (how many at a time).
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isolation } from './isolation.mjs';
import { shortened } from './test/failed-tests.ts';
import { commandOf, environmentOf, SUITES, type Suite } from './test/suites.ts';

/** What became of a suite. */
interface Result {
  readonly name: string;
  readonly ok: boolean;
  readonly seconds: number;
  /** The tests that failed, as far as they are known: a line for each, and, indented, why. */
  readonly failed: readonly string[];
}

const PROGRESS_MS = 60_000;
const LAST_LINES = 12;
const started = Date.now();
const scratch = mkdtempSync(join(tmpdir(), 'echelon-test-'));
const seconds = (from: number): number => Math.round((Date.now() - from) / 1000);

/**
 * Suites that run beside each other each have a network namespace, because each Ray takes any free ports. If none
 * can be made, they run one after another.
 */
const network = process.env.ECHELON_ISOLATED
  ? isolation(process.env.ECHELON_PYTHON ?? '.venv/bin/python')
  : undefined;

/** What the suites that are running have printed; shown when they end, each in one piece. */
const running = new Map<string, Buffer[]>();

async function run(suite: Suite, alone: boolean): Promise<Result> {
  const begun = Date.now();
  const names = join(scratch, suite.name.replace('/', '-'));
  const command = commandOf(suite, names);
  if (command === undefined) return { name: suite.name, ok: true, seconds: 0, failed: [] };
  const [program, ...args] = network === undefined ? command : [...network, ...command];
  const output: Buffer[] = [];
  running.set(suite.name, output);
  console.log(`=== ${suite.name} begins`);
  const child = spawn(program!, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environmentOf(suite) },
  });
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output.push(chunk);
      if (alone) process.stdout.write(chunk);
    });
  const stop = (): void => void child.kill();
  process.on('exit', stop);
  const { promise, resolve } = Promise.withResolvers<string>();
  child.once('error', (error) => resolve(error.message));
  child.once('close', (code, signal) => resolve(code === 0 ? '' : `it ended with ${signal ?? code}`));
  const problem = await promise;
  process.off('exit', stop);
  running.delete(suite.name);
  if (!alone) show(suite.name, output);
  const failed = problem === '' ? [] : failedOf(suite, { names, output, problem });
  const result = { name: suite.name, ok: problem === '', seconds: seconds(begun), failed };
  console.log(`=== ${outcomeOf(result)}`);
  return result;
}

function show(name: string, output: readonly Buffer[]): void {
  process.stdout.write(`\n=== ${name}: what it printed\n${Buffer.concat(output)}\n`);
}

function failedOf(
  suite: Suite,
  { names, output, problem }: { names: string; output: readonly Buffer[]; problem: string },
): string[] {
  const printed = `${Buffer.concat(output)}`;
  const lines = suite.marked === undefined ? linesOf(names) : pytestFailures(printed);
  if (lines.length > 0) return lines;
  return [
    `${suite.name}: ${problem}; it printed last:`,
    ...shortened(printed.split('\n').slice(-LAST_LINES)),
  ];
}

/** What pytest says of each failure in its summary. */
function pytestFailures(output: string): string[] {
  const [, summary = ''] = output.split(/^=+ short test summary info =+$/m);
  return summary
    .replace(/^(=+ )?\d+ (failed|passed|error).*\s*$/m, '')
    .split(/^(?=FAILED |ERROR |SKIPPED )/m)
    .filter((part) => /^(FAILED|ERROR) /.test(part))
    .flatMap((part) => {
      const [first, ...rest] = part.split('\n');
      return [first!, ...shortened(rest)];
    });
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    return []; // it ended before it reported
  }
}

function outcomeOf({ name, ok, seconds }: Result): string {
  return `${ok ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`;
}

async function runAll(chosen: readonly Suite[], lanes: number): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = [...chosen];
  const lane = async (): Promise<void> => {
    for (let suite = waiting.shift(); suite !== undefined; suite = waiting.shift())
      results.push(await run(suite, lanes === 1));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}

function suitesFrom(args: readonly string[]): readonly Suite[] {
  const named = args.filter((arg) => !arg.startsWith('--'));
  const means = (name: string, suite: Suite): boolean =>
    suite.name === name || suite.name.startsWith(`${name}/`);
  const unknown = named.filter((name) => !SUITES.some((suite) => means(name, suite)));
  if (unknown.length > 0) {
    const known = SUITES.map(({ name }) => name).join(', ');
    console.error(`no suite named ${unknown.join(', ')}; there are ${known}`);
    process.exit(2);
  }
  return SUITES.filter((suite) =>
    named.length > 0
      ? named.some((name) => means(name, suite))
      : suite.name !== 'full' || args.includes('--full'),
  );
}

/** Two more than there are cores: most suites wait for a part of their time, for Ray, for leases and for timeouts. */
function lanesFor(count: number, args: readonly string[]): number {
  const asked = Number(args.find((arg) => arg.startsWith('--lanes='))?.slice('--lanes='.length));
  const most = asked >= 1 ? asked : availableParallelism() + 2;
  return network === undefined ? 1 : Math.min(count, Math.floor(most));
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    for (const [name, output] of running) show(name, output);
    process.exit(1);
  });
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));

const args = process.argv.slice(2);
const chosen = suitesFrom(args);
const progress = setInterval(
  () => console.log(`... ${seconds(started)} s; running: ${[...running.keys()].join(', ')}`),
  PROGRESS_MS,
);
const results = await runAll(chosen, lanesFor(chosen.length, args));
clearInterval(progress);
const failed = results.flatMap((result) => result.failed);
if (failed.length > 0) console.log(`\nFailed:\n${failed.map((line) => `  ${line}`).join('\n')}`);
console.log(`\n${results.map(outcomeOf).join('\n')}\nall in ${seconds(started)} s`);
process.exit(failed.length === 0 ? 0 : 1);
