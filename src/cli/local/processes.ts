import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { CliError, EXIT } from 'command-kit/exit';
import type { Guard } from './guard.ts';

/** A server process of a private stack, with a process group of its own. */
export interface ServerProcess {
  readonly pid: number;
  /** Resolves when the process has ended, however it ended. */
  readonly ended: Promise<string>;
  /** SIGTERM to the process, SIGKILL to its whole group when the grace is over; resolves when it is gone. */
  stop(graceMs: number): Promise<void>;
}

/** Grace of a server whose starter has ended without stopping it. */
const GUARD_GRACE_MS = 10_000;

/** Starts a program in a process group of its own, its output in `logFile`. Rejects if it cannot be started. */
export async function startServer(options: {
  command: string;
  args: string[];
  logFile: string;
  environment: NodeJS.ProcessEnv;
  /** Ends the server should this process not come to it. */
  guard?: Guard | undefined;
}): Promise<ServerProcess> {
  options.guard?.signal.throwIfAborted();
  const log = openSync(options.logFile, 'a');
  const child = spawn(options.command, options.args, {
    detached: true,
    stdio: ['ignore', log, log],
    env: options.environment,
  });
  closeSync(log);
  const forget = child.pid && options.guard?.add({ kind: 'group', pid: child.pid, graceMs: GUARD_GRACE_MS });
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
    child.once('error', (error) => resolve(error.message));
  });
  await Promise.race([once(child, 'spawn'), once(child, 'error').then(([error]) => Promise.reject(error))]);
  const stop = async (graceMs: number): Promise<void> => {
    await stopGroup(child, ended, graceMs);
    if (forget) forget();
  };
  return { pid: child.pid!, ended, stop };
}

async function stopGroup(child: ChildProcess, ended: Promise<string>, graceMs: number): Promise<void> {
  child.kill('SIGTERM');
  const grace = new AbortController();
  await Promise.race([ended, delay(graceMs, undefined, { signal: grace.signal }).catch(() => undefined)]);
  grace.abort();
  try {
    process.kill(-child.pid!, 'SIGKILL');
  } catch {
    // The group is empty: everything ended in time.
  }
  await ended;
}

/** Polls until `probe` gives a value; rejects with `whatFailed` and the log's end once the server ended or time is up. */
export async function waitUntilReady<T>(options: {
  probe: () => Promise<T | undefined>;
  server: ServerProcess;
  timeoutMs: number;
  logFile: string;
  what: string;
}): Promise<T> {
  const deadline = Date.now() + options.timeoutMs;
  let over: string | undefined;
  options.server.ended.then((how) => {
    over = how;
  });
  for (;;) {
    const value = await options.probe().catch(() => undefined);
    if (value !== undefined) return value;
    const why = over ?? (Date.now() > deadline ? `not ready after ${options.timeoutMs / 1000} s` : undefined);
    if (why)
      throw new CliError(
        EXIT.notOk,
        `${options.what} did not start (${why}). The end of its log, ${options.logFile}:\n${tailOf(options.logFile)}`,
      );
    await delay(50);
  }
}

function tailOf(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
}

/** A port on loopback that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** A {@link CliError} where something else listens at this address. Port 0 is any free one. */
export async function assertPortFree({ host, port }: { host: string; port: number }): Promise<void> {
  const server = createServer();
  try {
    await once(server.listen(port, host), 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why =
      code === 'EADDRINUSE'
        ? `port ${port} of ${host} is taken by another program`
        : `cannot listen: ${message}`;
    throw new CliError(
      EXIT.notOk,
      `${why}; ECHELON_PORT names another port (0: any free one), ECHELON_HOST another address`,
    );
  }
  server.close();
  await once(server, 'close');
}

/**
 * What tells a process from every other one that has or had its id: when it started, and in which boot of the machine.
 * Undefined if no such process runs.
 */
export function processIdentity(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program comes second, in parentheses, and may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie has ended.
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${fields[19]}`;
  } catch {
    return undefined;
  }
}
