/**
 * How fast a command starts: CPU time of `echelon --help` and of `echelon ls` without a server, from the sources and from the
 * built package, against `node -e 0`. The arms run in turn. Needs `dist` for the package: `node scripts/run.mjs build`.
 */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { machine, optionsOf, round, show, type Timing, timingOf } from './harness.ts';

const ROOT = join(import.meta.dirname, '../..');
const ROUNDS = 21;
const LS = ['ls', '--state-dir', '/nowhere'];

/** Prints one line an arm. Arguments: `--json`. */
export function run(args: readonly string[]): void {
  const { json } = optionsOf(args, { json: false });
  const timings = timeArms(armsOf());
  const least = timings['node -e 0']!.best;
  const results = Object.entries(timings).map(([arm, { best, median, worst }]) => ({
    arm,
    best,
    median,
    worst,
    ratio: round(best / least),
  }));
  show({ results, machine: machine() }, json, () => {
    console.table(results);
    console.log(`ms of CPU time, ${ROUNDS} rounds in turn, ratio of the best; ${machine()}`);
  });
}

function armsOf(): Record<string, readonly string[]> {
  const programs = { sources: 'bin/start.mjs', package: 'dist/cli/main.js' };
  const commands = Object.entries(programs)
    .map(([name, file]) => [name, join(ROOT, file)] as const)
    .filter(([, file]) => existsSync(file))
    .flatMap(([name, file]) => [
      [`--help, ${name}`, [file, '--help']] as const,
      [`ls, ${name}`, [file, ...LS]] as const,
    ]);
  return { 'node -e 0': ['-e', '0'], ...Object.fromEntries(commands) };
}

function timeArms(arms: Record<string, readonly string[]>): Record<string, Timing> {
  const times = Object.fromEntries(Object.keys(arms).map((name) => [name, [] as number[]]));
  // The first round fills the compile cache.
  for (let at = -1; at < ROUNDS; at++) {
    for (const [name, args] of Object.entries(arms)) {
      const took = cpuTime(args);
      if (at >= 0) times[name]!.push(took);
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, own]) => [name, timingOf(own)]));
}

/** Milliseconds of CPU time of Node with these arguments, its threads included. */
function cpuTime(args: readonly string[]): number {
  const script = 'TIMEFORMAT="%3U %3S"; time "$@" >/dev/null 2>&1';
  const { stderr, error } = spawnSync('bash', ['-c', script, 'bash', process.execPath, ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { HOME: ROOT, PATH: process.env.PATH, LC_ALL: 'C' },
  });
  if (error) throw error;
  const [user, system] = stderr.trim().split(' ').map(Number);
  return 1000 * (user! + system!);
}
