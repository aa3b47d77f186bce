// What Linux says of processes. Of one that has ended it says nothing.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Of the processor times of a process. */
export const TICKS_PER_SECOND = 100;

/** The ids of all processes. */
export function processes(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

/** A file of a process; empty if the process has ended. */
export function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** The network namespace of a process; undefined if the process has ended, or is another user's. */
export function networkOf(pid: number | 'self'): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    return undefined;
  }
}

/** The fields of `stat` from the state on, which is the third; undefined if the process has ended. */
export function statOf(pid: number): string[] | undefined {
  // The name in parentheses may hold blanks.
  const [, fields] = read(pid, 'stat').split(/\) (?=[A-Z] )/);
  return fields?.split(' ');
}
