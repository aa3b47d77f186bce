import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Reads a file of the kernel; undefined if there is none. */
export type ReadText = (path: string) => string | undefined;

/** {@link ReadText} of this machine. */
export const readText: ReadText = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

/** What a limit leaves free, and what states it; Infinity if nothing limits. */
export interface Room {
  free: number;
  by: string;
}

const UNLIMITED: Room = { free: Number.POSITIVE_INFINITY, by: 'no limit' };
const smaller = (a: Room, b: Room): Room => (b.free < a.free ? b : a);

/** The folders of this process's control group and of those above it: its limit is the smallest of all (v1 and v2). */
function* controlGroups(read: ReadText, controller: string): Generator<string> {
  for (const line of (read('/proc/self/cgroup') ?? '').split('\n')) {
    const [id, controllers = '', path = ''] = line.split(':');
    const isV2 = id === '0';
    if (!path.startsWith('/') || (!isV2 && !controllers.split(',').includes(controller))) continue;
    const root = isV2 ? '/sys/fs/cgroup' : `/sys/fs/cgroup/${controller}`;
    for (let at = path; ; at = dirname(at)) {
      yield join(root, at);
      if (at === '/') break;
    }
  }
}

/** Tasks (processes and threads) that may still be started, by the control groups and by the limit of the user. */
export function freeTasks(read: ReadText, tasksOfUser: number): Room {
  let room = UNLIMITED;
  for (const folder of controlGroups(read, 'pids')) {
    const limit = Number(read(join(folder, 'pids.max')));
    const used = Number(read(join(folder, 'pids.current')) ?? 0);
    // "max" is not a number.
    if (limit > 0) room = smaller(room, { free: limit - used, by: `pids.max ${limit} of ${folder}` });
  }
  const ofUser = softLimit(read, 'Max processes');
  return smaller(room, { free: ofUser - tasksOfUser, by: `\`ulimit -u\` ${ofUser}` });
}

/** Files that one process may have open. */
export const openFiles = (read: ReadText): number => softLimit(read, 'Max open files');

/** A soft limit of this process, from the table in /proc; Infinity if there is none. */
function softLimit(read: ReadText, name: string): number {
  const line = (read('/proc/self/limits') ?? '').split('\n').find((one) => one.startsWith(name));
  const value = Number(line?.slice(name.length).trim().split(/\s+/)[0]);
  return Number.isNaN(value) ? Number.POSITIVE_INFINITY : value;
}
