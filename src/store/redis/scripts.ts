import { readFileSync } from 'node:fs';
import type { Writable } from 'node:stream';
import type { Redis } from 'ioredis';
import { guarded } from './errors.ts';

/** The scripts by folder of `store`; the files are in its `lua/`. */
const SCRIPTS = {
  access: ['audit', 'claim-answer', 'end-answer', 'remove-project', 'sign-out', 'swap-access'],
  archive: ['archive-series', 'archive-stream', 'take-archiving'],
  attempts: ['acquire', 'allocate', 'confirm', 'end', 'preempt', 'release', 'renew', 'settle', 'take-over'],
  batches: ['give-back-pending', 'hold-pending', 'report', 'take-pending', 'verify-again'],
  clock: ['confirm-clock', 'read-clock', 'see-clock'],
  clusters: [
    'claim-command',
    'create-command',
    'end-command',
    'hold-slurm',
    'note-silent',
    'put-cluster',
    'record-slurm',
    'remove-cluster',
    'renew-command',
    'report-command',
    'see-cluster',
    'set-cluster',
    'set-draining',
  ],
  events: ['append', 'find-line', 'read', 'read-feed', 'roll-stream'],
  experiments: ['annotate', 'cancel', 'delete-experiment', 'fail-overdue', 'list', 'submit'],
  metrics: ['compact-series', 'read-series'],
  queue: ['set-paused', 'set-priority', 'set-wait-reasons', 'snapshot'],
  retention: ['end-expiry', 'expire-record', 'expire-sweeps', 'hold-retention', 'mark-expired', 'put-due'],
  runs: ['hear-run', 'open-run', 'take-silent-runs'],
  rules: ['advance-rules', 'read-signals', 'take-signals'],
  subscriptions: [
    'add-subscription',
    'advance-subscriptions',
    'begin-delivery',
    'end-delivery',
    'remove-subscription',
    'resend-dead',
  ],
  sweeps: [
    'cancel-sweep',
    'create-sweep',
    'expand-sweep',
    'record-average',
    'release-sweep',
    'record-runs',
    'rerun-sweep',
    'share-documents',
  ],
} as const;

/** The name of a script, as of its file. */
type ScriptName = (typeof SCRIPTS)[keyof typeof SCRIPTS][number];

/** The folder of each script. */
const FOLDERS = new Map<ScriptName, string>(
  Object.entries(SCRIPTS).flatMap(([folder, names]) => names.map((name) => [name, folder] as const)),
);
/** Every {@link ScriptName}. */
export const SCRIPT_NAMES: readonly ScriptName[] = [...FOLDERS.keys()];

/** An argument of a script after the root of the keys. */
export type ScriptArgument = string | number | Uint8Array;

/** Runs a script by its name; rejects with EchelonError only. */
export interface RunScript {
  (name: ScriptName, args: readonly ScriptArgument[]): Promise<unknown>;
  /** The same; strings of the answer are Buffers. */
  bytes(name: ScriptName, args: readonly ScriptArgument[]): Promise<unknown>;
}

const STORE = new URL('../', import.meta.url);

/**
 * Refuses to run on a Redis of another installation: a client may have reconnected to one. KEYS[2] names the installation
 * of the caller; it is no key.
 */
const OWN_STORE_ONLY =
  "do local own = string.match(KEYS[2], ':is:(.+)$') if own and redis.call('GET', KEYS[1] .. ':archive:id') ~= own then return redis.error_reply('-FOREIGN store') end end";

/** Text of a script. Each first line `-- include <name>` is replaced by `redis/lua/<name>.lua`. */
export function scriptText(name: ScriptName): string {
  const included = new Set<string>();
  const textOf = (file: string): string =>
    readFileSync(new URL(file, STORE), 'utf8').replace(/^-- include (\S+)$/gm, (_line, part: string) => {
      if (included.has(part)) return '';
      included.add(part);
      return textOf(`redis/lua/${part}.lua`);
    });
  return textOf(`${FOLDERS.get(name)}/lua/${name}.lua`).replace('\n', () => `\n${OWN_STORE_ONLY} `);
}

/**
 * Defines the scripts on a client, which sends each once and then runs it by digest. With an `installation`, they run only
 * on its Redis.
 */
export function loadScripts(redis: Redis, root: string, installation = (): string | null => null): RunScript {
  const commandOf = (name: ScriptName) => `echelon:${name}`;
  for (const name of SCRIPT_NAMES) {
    redis.defineCommand(commandOf(name), { lua: scriptText(name), numberOfKeys: 2 });
  }
  const commands = redis as unknown as Record<
    string,
    (...args: (string | number | Buffer)[]) => Promise<unknown>
  >;
  const runAs = (command: string, args: readonly ScriptArgument[]) => {
    const values = args.map((arg) => (arg instanceof Uint8Array ? asBuffer(arg) : arg));
    writeTogether(redis.stream);
    return guarded(commands[command]!(root, `${root}:is:${installation() ?? ''}`, ...values));
  };
  const run = (name: ScriptName, args: readonly ScriptArgument[]) => runAs(commandOf(name), args);
  return Object.assign(run, {
    bytes: (name: ScriptName, args: readonly ScriptArgument[]) => runAs(`${commandOf(name)}Buffer`, args),
  });
}

/** The same bytes as a Buffer, without a copy. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Sends all commands of one turn of the event loop in one write: fewer system calls, and one fsync of the server for
 * several commands. `stream` is undefined before the first connection.
 */
function writeTogether(stream: Writable | undefined): void {
  if (stream === undefined || stream.writableCorked > 0) return;
  stream.cork();
  setImmediate(() => stream.uncork());
}
