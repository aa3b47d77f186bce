/** The child processes of the verifier's pool: a few, each with one task at a time, recycled, replaced if one dies. */

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { carriedOut, type GivenUp, hold, type Order, startChild } from './child.ts';
import { createLimitedStart, type ProcessLimits } from './memory-limit.ts';

/** The budget of one task. */
export interface TaskBudget {
  readonly budgetMs: number;
  readonly budgetBytes: number;
}

/** Runs tasks in child processes. */
export interface Children {
  /** The answer of a task. Rejects with the signal's reason once it aborts, and if no process can be started. */
  run(order: Order, signal?: AbortSignal): Promise<{ readonly answer: unknown } | GivenUp>;
  /** Ends the processes, and what they are doing. */
  close(): Promise<void>;
}

/** Beside the budget of a task: loaded code, young objects, garbage of earlier tasks that is not collected yet. */
const ROOM_BYTES = 128 * 2 ** 20;
/** A child with more resident memory than this after a task is replaced. */
const MAX_IDLE_RSS_BYTES = 192 * 2 ** 20;
/** A child is replaced once it has worked for so many budgets of time. */
const MAX_BUDGETS = 4;
/** Threads of a child, for its limit of processor time. */
const THREADS = 8;
/** An idle child ends after this time. */
const IDLE_MS = 30_000;

interface Child {
  readonly process: ChildProcess;
  workedMs: number;
}

/** The idle children of a pool. */
interface Idle {
  pop(): Child | undefined;
  push(child: Child): void;
  remove(child: Child): void;
}

/** Ends a child after it was idle for {@link IDLE_MS}. */
function createIdle(): Idle {
  const idle = new Map<Child, NodeJS.Timeout>();
  function remove(child: Child): void {
    clearTimeout(idle.get(child));
    idle.delete(child);
  }
  return {
    pop() {
      const last = [...idle.keys()].at(-1);
      if (last !== undefined) remove(last);
      return last;
    },
    push(child) {
      const timer = setTimeout(() => {
        remove(child);
        end(child);
      }, IDLE_MS);
      idle.set(child, timer.unref());
    },
    remove,
  };
}

/** Processes start with the tasks. Call `close` when done. */
export function createChildren(budget: TaskBudget): Children {
  const { budgetMs } = budget;
  const start = createLimitedStart(limitsOf(budget));
  const all = new Set<Child>();
  const idle = createIdle();
  let closed = false;

  async function take(): Promise<Child> {
    const known = idle.pop();
    if (known !== undefined) {
      hold(known.process, true);
      return known;
    }
    const child = { process: await startChild(start), workedMs: 0 };
    all.add(child);
    child.process.once('exit', () => {
      all.delete(child);
      idle.remove(child);
    });
    if (closed) end(child);
    return child;
  }

  function giveBack(child: Child, rssBytes: number): void {
    const worn = child.workedMs > MAX_BUDGETS * budgetMs || rssBytes > MAX_IDLE_RSS_BYTES;
    if (closed || worn) end(child);
    else {
      hold(child.process, false);
      idle.push(child);
    }
  }

  return {
    async run(order, signal) {
      const child = await take();
      const started = performance.now();
      const ended = await carriedOut(child.process, order, budgetMs, signal);
      child.workedMs += performance.now() - started;
      if ('rssBytes' in ended) giveBack(child, ended.rssBytes);
      else end(child);
      signal?.throwIfAborted();
      if ('failed' in ended) throw new Error(`The verifier failed: ${ended.failed}`);
      return ended;
    },
    async close() {
      closed = true;
      await Promise.all([...all].map(endOf));
    },
  };
}

function end({ process }: Child): void {
  process.kill('SIGKILL');
}

async function endOf(child: Child): Promise<void> {
  hold(child.process, true);
  const ended = once(child.process, 'exit');
  end(child);
  await ended;
}

function limitsOf({ budgetMs, budgetBytes }: TaskBudget): ProcessLimits {
  return {
    memoryBytes: budgetBytes + ROOM_BYTES,
    heapBytes: Math.max(2 ** 26, budgetBytes),
    // More than a child can take before it is replaced: the limit ends one whose parent was killed.
    cpuSeconds: 10 + (THREADS * (MAX_BUDGETS + 1) * budgetMs) / 1000,
  };
}
