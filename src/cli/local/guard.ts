import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { CliError, EXIT } from 'command-kit/exit';

/** Something that has to be undone, however this process ends. */
export type Undo =
  /** SIGTERM to a process, SIGKILL to its whole group when the grace is over. */
  | { kind: 'group'; pid: number; graceMs: number }
  | { kind: 'run'; command: string; args: string[]; environment: NodeJS.ProcessEnv; timeoutMs: number }
  | { kind: 'remove'; path: string };

/**
 * A small process beside this one that undoes what this one has not undone itself when it ends, by kill -9 too: it
 * notices the end by the pipe between the two. It also holds the lock of the state directory, until all is undone.
 */
export interface Guard {
  /** Aborts when the end has begun: from then on nothing may be started. */
  readonly signal: AbortSignal;
  /** Registers what has to be undone; what was registered last is undone first. The answer takes it back. */
  add(undo: Undo): () => void;
  /** Has everything undone that is left, and resolves when it is. */
  end(): Promise<void>;
}

/** `flock` ends with this where the lock is another's. */
const LOCKED = 75;
const LOCK_WAIT_SECONDS = 20;

/** Starts a guard and takes the lock of `stateDir`; a {@link CliError} where another process keeps it. */
export async function startGuard(stateDir: string): Promise<Guard> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const program = fileURLToPath(new URL(`./guard-process.${extension}`, import.meta.url));
  const lock = ['--no-fork', '-w', String(LOCK_WAIT_SECONDS), '-E', String(LOCKED), join(stateDir, 'lock')];
  // A session of its own, so that what a terminal sends to the foreground does not reach it.
  const child = spawn('flock', [...lock, process.execPath, program], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? String(code)));
    child.once('error', (error) => resolve(error.message));
  });
  const ready = once(createInterface(child.stdout!), 'line').then(() => undefined);
  const failed = await Promise.race([ready, ended]);
  if (failed === String(LOCKED)) {
    throw new CliError(
      EXIT.notOk,
      `Another Echelon is just starting or ending in ${stateDir}; \`echelon down\` stops it.`,
    );
  }
  if (failed !== undefined) throw new Error(`the guard process did not start (${failed})`);
  return guardBy(child, ended);
}

function guardBy(child: ChildProcess, ended: Promise<string>): Guard {
  const ending = new AbortController();
  // Where the guard is gone there is nothing to tell it.
  child.stdin!.on('error', () => undefined);
  const tell = (message: object) => void child.stdin!.write(`${JSON.stringify(message)}\n`);
  let last = 0;
  // The guard alone keeps no process alive.
  child.unref();
  return {
    signal: ending.signal,
    add(undo) {
      ending.signal.throwIfAborted();
      const id = ++last;
      tell({ id, undo });
      return () => tell({ forget: id });
    },
    async end() {
      ending.abort(new CliError(EXIT.notOk, 'it is being stopped'));
      child.ref();
      child.stdin!.end();
      await ended;
    },
  };
}
