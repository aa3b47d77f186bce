import { readdirSync, statSync } from 'node:fs';
import { type ReadText, readText } from './limits.ts';

/** A process of this machine. */
export interface Program {
  pid: number;
  name: string;
  uid: number;
  threads: number;
}

/** All processes that this user may see. In a container those of others are invisible. */
export function programs(read: ReadText = readText): Program[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const status = read(`/proc/${pid}/status`);
      if (status === undefined) return [];
      const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(status)?.[1] ?? '';
      return [
        {
          pid: Number(pid),
          name: field('Name'),
          uid: Number(field('Uid')),
          threads: Number(field('Threads')),
        },
      ];
    });
}

/** The name of a user by the id, or the id as text. */
export function userName(uid: number, read: ReadText = readText): string {
  const line = (read('/etc/passwd') ?? '').split('\n').find((one) => one.split(':')[2] === String(uid));
  return line?.split(':')[0] ?? `user ${uid}`;
}

/** The user whose process this is; undefined if it has ended, or is invisible. */
export function ownerOf(pid: number): string | undefined {
  try {
    return userName(statSync(`/proc/${pid}`).uid);
  } catch {
    return undefined;
  }
}
