/** Ends a process that computes for long without reading on: a damaged or hostile file can hold a reader up for ever. */

import { type ChildProcess, execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Processor time without progress: far more than the largest batch takes. */
const MAX_CPU_SECONDS = 600;
const EVERY_MS = 5_000;

/** A process that is watched. */
export interface Watch {
  /** It has read on, or finished a part of its work: its time begins again. */
  progressed(): void;
  /** Whether it was ended. */
  isStalled(): boolean;
}

/**
 * Ends the child once it used `maxCpuSeconds` of processor time without progress. Time in which it waits, for a reader of its
 * output or while the machine sleeps, does not count.
 */
export function watchProgress(
  child: ChildProcess,
  { maxCpuSeconds = MAX_CPU_SECONDS, everyMs = EVERY_MS }: { maxCpuSeconds?: number; everyMs?: number } = {},
): Watch {
  let since: number | undefined;
  let stalled = false;
  const timer = setInterval(async () => {
    const used = await cpuSeconds(child.pid!);
    since ??= used;
    if (used === undefined || since === undefined || used - since <= maxCpuSeconds) return;
    stalled = true;
    child.kill('SIGKILL');
  }, everyMs).unref();
  child.once('exit', () => clearInterval(timer));
  return {
    progressed() {
      since = undefined;
    },
    isStalled: () => stalled,
  };
}

/** Ticks of the clock in which Linux counts, in a second. */
const TICKS = 100;

/** Processor time of a process so far; undefined if it has ended. */
async function cpuSeconds(pid: number): Promise<number | undefined> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
    // The name in parentheses may hold blanks. utime and stime are the 14th and 15th field.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return stat === '' ? undefined : (Number(fields[11]) + Number(fields[12])) / TICKS;
  }
  const { stdout } = await promisify(execFile)('ps', ['-o', 'time=', '-p', String(pid)], {
    env: { PATH: '/bin:/usr/bin' },
  }).catch(() => ({ stdout: '' }));
  const [, days = '0', clock = ''] = /^(?:(\d+)-)?([\d:.]+)$/.exec(stdout.trim()) ?? [];
  if (clock === '') return undefined;
  return clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) + Number(days) * 86_400;
}
