import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Bench, until } from './dispatch.ts';
import type { Failpoint } from './failpoints.ts';
import { keepLines } from './kept-log.ts';

/** The lease of such a dispatcher: what its death leaves is taken over after this time. */
export const LEASE_MS = 1_500;

/** A part of the system in a process of its own. */
export interface PartProcess {
  pid: number;
  /** Waits until it has said `word` once more than before. */
  says(word: string): Promise<void>;
  tell(word: string): void;
  kill(signal: NodeJS.Signals): void;
  exited: Promise<void>;
}

/** A dispatcher in a process of its own. */
export interface DispatcherProcess extends PartProcess {
  /** Waits until it has no attempt in hand. */
  idle(): Promise<void>;
}

/** Whatever ends processes when it is over: a test, or a campaign. */
export interface Releases {
  after(release: () => Promise<void>): void;
}

/** Starts a dispatcher process beside the bench's own; ended with SIGKILL by the caller or by `t`. */
export async function startDispatcherProcess(
  bench: Bench,
  t: Releases,
  options: {
    id: string;
    leaseMs?: number;
    holdBeforeLaunch?: boolean;
    /** Experiments that end the process: when it launches them, or when it records their events. */
    diesAtLaunchOf?: string;
    diesAtEventsOf?: string;
    deadlySteps?: number[];
    /** Where a fault happens to it; it says `failpoint` then. */
    failpoint?: Failpoint;
    /** How far its clock is after this machine's; told `clock MS`, it changes. */
    clockMs?: number;
    keepalive?: { timeMs: number; timeoutMs: number };
    /** Its way to the ray-worker. Default: the address of the cluster. */
    rayWorker?: string;
    /** A directory, in which what it does with leases is recorded. */
    leases?: string;
    /** The pace of archiving and retention, which then begin at the end of an experiment. */
    retentionMs?: number;
    /** How long a preempted experiment has to stop. Default: as in production. */
    preemptWithinMs?: number;
    /** Directory of secrets: it sends notifications, also to 127.0.0.1, and retries soon. */
    notify?: string;
  },
): Promise<DispatcherProcess> {
  const setup = {
    url: bench.server.url,
    archive: bench.archive,
    holdBeforeLaunch: false,
    deadlySteps: [],
    leaseMs: LEASE_MS,
    ...options,
  };
  const name = `dispatcher ${options.id}`;
  const child = spawnPart(t, { script: 'dispatcher-process.ts', name, setup });
  await child.says('ready');
  return {
    ...child,
    async idle() {
      child.tell('report-idle');
      await child.says('idle');
    },
  };
}

/**
 * Starts a script of this folder with `setup` as its argument. It says words on stdout, and logs to stderr. `wrapper`: put before
 * its command.
 */
export function spawnPart(
  t: Releases,
  {
    script,
    name,
    setup,
    wrapper = [],
  }: {
    script: string;
    name: string;
    setup: object;
    wrapper?: readonly string[];
  },
): PartProcess {
  const path = join(import.meta.dirname, script);
  const [program, ...args] = [...wrapper, process.execPath, path, JSON.stringify(setup)];
  const child = spawn(program!, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit').then(() => {});
  const words: string[] = [];
  createInterface({ input: child.stdout }).on('line', (word) => words.push(word));
  keepLines(name, child.stderr);
  child.stdin.on('error', () => {});
  t.after(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  return {
    pid: child.pid ?? -1,
    async says(word) {
      await until(
        () => {
          if (words.includes(word)) return true;
          if (child.exitCode !== null) throw new Error(`${name} ended before it said ${word}`);
          return false;
        },
        `${name} says ${word}`,
        // A process starts slowly on a starved machine.
        { seconds: 120, instead: () => words },
      );
      words.splice(words.indexOf(word), 1);
    },
    tell: (word) => void child.stdin.write(`${word}\n`),
    kill: (signal) => void child.kill(signal),
    exited,
  };
}
