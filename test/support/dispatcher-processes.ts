import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Bench, until } from './dispatch.ts';
import type { Failpoint } from './failpoints.ts';
import { keepLines } from './kept-log.ts';

/** The lease of such a dispatcher: what its death leaves is taken over after this time. */
export const LEASE_MS = 1_500;

/** A dispatcher in a process of its own. */
export interface DispatcherProcess {
  pid: number;
  /** Waits until it has said `word` once more than before. */
  says(word: string): Promise<void>;
  tell(word: string): void;
  /** Waits until it has no attempt in hand. */
  idle(): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  exited: Promise<void>;
}

/** Starts a dispatcher process beside the bench's own; ended with SIGKILL by the caller or by `t`. */
export async function startDispatcherProcess(
  bench: Bench,
  t: { after(release: () => Promise<void>): void },
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
  },
): Promise<DispatcherProcess> {
  const setup = {
    url: bench.server.url,
    archive: join(bench.directory, 'archive'),
    holdBeforeLaunch: false,
    deadlySteps: [],
    leaseMs: LEASE_MS,
    ...options,
  };
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'dispatcher-process.ts'), JSON.stringify(setup)],
    { stdio: ['pipe', 'pipe', 'pipe'] },
  );
  const exited = once(child, 'exit').then(() => {});
  const words: string[] = [];
  createInterface({ input: child.stdout }).on('line', (word) => words.push(word));
  keepLines(`dispatcher ${options.id}`, child.stderr);
  child.stdin.on('error', () => {});
  t.after(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const tell = (word: string) => void child.stdin.write(`${word}\n`);
  async function says(word: string): Promise<void> {
    await until(
      () => {
        if (words.includes(word)) return true;
        if (child.exitCode !== null) throw new Error(`dispatcher ${options.id} ended before it said ${word}`);
        return false;
      },
      `dispatcher ${options.id} says ${word}`,
      { instead: () => words },
    );
    words.splice(words.indexOf(word), 1);
  }
  const process_: DispatcherProcess = {
    pid: child.pid ?? -1,
    says,
    tell,
    async idle() {
      tell('report-idle');
      await says('idle');
    },
    kill: (signal) => void child.kill(signal),
    exited,
  };
  await says('ready');
  return process_;
}
