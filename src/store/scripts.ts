import { readFileSync } from 'node:fs';
import type { Writable } from 'node:stream';
import type { Redis } from 'ioredis';
import { guarded } from './redis-errors.ts';

/** The atomic steps of the store: one file in `lua/` each. */
export const SCRIPT_NAMES = [
  'advance-rules',
  'append',
  'archive-series',
  'archive-stream',
  'audit',
  'cancel',
  'cancel-sweep',
  'claim',
  'claim-answer',
  'claim-command',
  'confirm',
  'create-command',
  'create-sweep',
  'delete-experiment',
  'end',
  'end-answer',
  'end-command',
  'end-expiry',
  'expand-sweep',
  'expire-record',
  'expire-sweeps',
  'fail-overdue',
  'give-back-pending',
  'hold-pending',
  'hold-retention',
  'find-line',
  'list',
  'mark-expired',
  'put-cluster',
  'put-due',
  'read',
  'read-feed',
  'read-series',
  'read-signals',
  'record-average',
  'record-version',
  'release',
  'release-sweep',
  'remove-cluster',
  'remove-project',
  'renew',
  'renew-command',
  'report',
  'report-command',
  'rerun-sweep',
  'roll-stream',
  'see-cluster',
  'set-cluster',
  'set-draining',
  'set-paused',
  'set-priority',
  'set-waiting-reasons',
  'settle',
  'sign-out',
  'situation',
  'submit',
  'swap-access',
  'take-archiving',
  'take-over',
  'take-pending',
  'take-signals',
] as const;
/** One of {@link SCRIPT_NAMES}. */
export type ScriptName = (typeof SCRIPT_NAMES)[number];

/** What a script takes after the root of the keys. */
export type ScriptArgument = string | number | Uint8Array;

/** Runs an atomic step by its name; errors are ours already. */
export interface RunScript {
  (name: ScriptName, args: readonly ScriptArgument[]): Promise<unknown>;
  /** The same, for an answer whose strings are bytes: they come as Buffers. */
  bytes(name: ScriptName, args: readonly ScriptArgument[]): Promise<unknown>;
}

const FOLDER = new URL('./lua/', import.meta.url);

/** Text of a script, each line `-- include <name>` replaced by `lua/include/<name>.lua` where it comes first. */
export function scriptText(name: ScriptName): string {
  const included = new Set<string>();
  const textOf = (file: string): string =>
    readFileSync(new URL(file, FOLDER), 'utf8').replace(/^-- include (\S+)$/gm, (_line, part: string) => {
      if (included.has(part)) return '';
      included.add(part);
      return textOf(`include/${part}.lua`);
    });
  return textOf(`${name}.lua`);
}

/** Makes the scripts known to a client (sent once per connection, run by their digest afterwards). */
export function loadScripts(redis: Redis, root: string): RunScript {
  const commandOf = (name: ScriptName) => `echelon:${name}`;
  for (const name of SCRIPT_NAMES) {
    redis.defineCommand(commandOf(name), { lua: scriptText(name), numberOfKeys: 1 });
  }
  const commands = redis as unknown as Record<
    string,
    (...args: (string | number | Buffer)[]) => Promise<unknown>
  >;
  const runAs = (command: string, args: readonly ScriptArgument[]) => {
    const values = args.map((arg) => (arg instanceof Uint8Array ? asBuffer(arg) : arg));
    writeTogether(redis.stream);
    return guarded(commands[command]!(root, ...values));
  };
  const run = (name: ScriptName, args: readonly ScriptArgument[]) => runAs(commandOf(name), args);
  return Object.assign(run, {
    bytes: (name: ScriptName, args: readonly ScriptArgument[]) => runAs(`${commandOf(name)}Buffer`, args),
  });
}

/** The same bytes as ioredis wants them, without a copy. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * What is sent in one turn of the event loop goes out in one write: fewer system calls, and the server brings several
 * commands to disk with one fsync. `stream` is undefined before the first connection.
 */
function writeTogether(stream: Writable | undefined): void {
  if (stream === undefined || stream.writableCorked > 0) return;
  stream.cork();
  setImmediate(() => stream.uncork());
}
