import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isolation } from '../isolation.mjs';
import { shortened } from './failed-tests.ts';
import { commandOf, environmentOf, type Suite } from './suites.ts';

/** What became of a suite. */
export interface Result {
  readonly name: string;
  readonly ok: boolean;
  readonly seconds: number;
  /** The tests that failed, as far as they are known: a line for each, and, indented, why. */
  readonly failed: readonly string[];
}

const LAST_LINES = 12;
const scratch = mkdtempSync(join(tmpdir(), 'echelon-test-'));
/** Whole seconds since `from`. */
export const seconds = (from: number): number => Math.round((Date.now() - from) / 1000);

/**
 * Suites that run beside each other each have a network namespace, because each Ray takes any free ports. If none
 * can be made, they run one after another.
 */
export const network = process.env.ECHELON_ISOLATED
  ? isolation(process.env.ECHELON_PYTHON ?? '.venv/bin/python')
  : undefined;

/** What the suites that are running have printed; shown when they end, each in one piece. */
export const running = new Map<string, Buffer[]>();

/** Runs a suite to its end. `alone`: what it prints is shown as it comes. */
export async function run(suite: Suite, alone: boolean): Promise<Result> {
  const begun = Date.now();
  const names = join(scratch, suite.name.replace('/', '-'));
  const command = commandOf(suite, names);
  if (command === undefined) return { name: suite.name, ok: true, seconds: 0, failed: [] };
  rmSync(names, { force: true }); // of an earlier round
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

/** Shows what a suite has printed. */
export function show(name: string, output: readonly Buffer[]): void {
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

/** A line about a suite. */
export function outcomeOf({ name, ok, seconds }: Result): string {
  return `${ok ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`;
}

process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
