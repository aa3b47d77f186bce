import { spawnSync } from 'node:child_process';
import type { Item } from './items.ts';
import { type Failure, shortened } from './lane-reporter.ts';

const LAST_LINES = 16;
/** The status if no test ran, as in a file that skips itself. */
const NO_TESTS = 5;

/** The script that makes the environments of trainers. */
export const TRAINERS = 'scripts/test/trainer-environments.sh';

const pythons = new Map<string, string | undefined>();

/** The interpreter with the packages of a trainer; undefined if its environment was not made. */
function pythonOf(trainer: string): string | undefined {
  if (!pythons.has(trainer)) {
    const { status, stdout } = spawnSync(TRAINERS, ['--made', trainer], { encoding: 'utf8' });
    pythons.set(trainer, status === 0 ? stdout.trim() : undefined);
  }
  return pythons.get(trainer);
}

/** Why an item whose trainer is not installed does not run, once for the whole file: only with the packages pytest can count its tests. */
export function skippedFile({ needs }: Item): string[] {
  if (needs === undefined || pythonOf(needs) !== undefined) return [];
  return [`whole files need the packages of ${needs}; they run with npm run test:full`];
}

/** The command that runs the files of an item with pytest, and its variables. `scratch`: for the temporary files of pytest itself. */
export function pytestCommand(
  { name, needs }: Item,
  scratch: string,
): { command: string[]; env: Record<string, string> } {
  const options = [
    '-v',
    '-rfEs',
    '-p',
    'no:cacheprovider',
    '--rootdir',
    'deploy/ray-worker',
    '--basetemp',
    scratch,
  ];
  return {
    command: [(needs && pythonOf(needs)) ?? '.venv/bin/python', '-m', 'pytest', ...options, name],
    // With CI pytest does not cut what it says of failures.
    env: { PYTHONPATH: 'deploy/ray-worker:deploy/capture:deploy/python', CI: 'true' },
  };
}

/** Reads what pytest printed; `problem`: how its process ended, '' for well. */
export function pytestResult(
  { name }: Item,
  { output, problem }: { output: string; problem: string },
): { passed: number; skipped: string[]; failures: Failure[] } {
  const [, summary = ''] = output.split(/^=+ short test summary info =+$/m);
  const last = output.trimEnd().split('\n').at(-1) ?? '';
  const passed = Number(/(\d+) passed/.exec(last)?.[1] ?? 0);
  const parts = summary.replace(/^=+ .* =+\s*$/m, '').split(/^(?=FAILED |ERROR |SKIPPED )/m);
  const skipped = parts.flatMap(skippedOf);
  const failures = parts.filter((part) => /^(FAILED|ERROR) /.test(part)).map(failureOf);
  const isSkipped = problem === `it ended with ${NO_TESTS}` && skipped.length > 0;
  if (problem === '' || isSkipped || failures.length > 0) return { passed, skipped, failures };
  const reason = [problem, ...shortened(output.split('\n').slice(-LAST_LINES))];
  return { passed, skipped, failures: [{ title: name, reason }] };
}

/** `SKIPPED [2] file:line: reason`: the reason, as often as it counts. */
function skippedOf(part: string): string[] {
  const [, count, reason] = /^SKIPPED \[(\d+)\] [^ ]+: ([\s\S]*)/.exec(part) ?? [];
  return count === undefined ? [] : Array.from({ length: Number(count) }, () => reason!.trim());
}

/** `FAILED file::test - reason`. */
function failureOf(part: string): Failure {
  const [first, ...rest] = part.trimEnd().split('\n');
  const [title, ...reason] = first!.replace(/^(FAILED|ERROR) /, '').split(' - ');
  return { title: title!, reason: shortened([reason.join(' - '), ...rest]) };
}
