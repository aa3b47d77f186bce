import { settledWithin } from '../../core/settled-within.ts';
import type { CommandProblem, PreflightFinding } from '../../schemas/clusters.ts';
import type { ClaimedCommand, CommandLease } from '../../store/clusters/commands.ts';
import type { Store } from '../../store/store.ts';
import type { Log } from '../log.ts';
import { createLoop, type Loop } from '../loop.ts';
import { SetupError, toCommandProblem } from './setup/problems.ts';

/*
 * Invariant: the holder of a command's lease runs it. After an interruption (a lost lease, a hand-over, the death of the
 * process), the next holder begins the command again; every kind of command allows that at any line.
 */

/** A command to run, and how to report on it. */
export interface CommandWork extends Omit<ClaimedCommand, 'lease'> {
  cluster: string;
  /** Adds a sentence to the report. */
  say(line: string): Promise<void>;
  warn(message: string, remedy: string): void;
  /** Adds findings to the command's result. */
  found(findings: readonly PreflightFinding[]): void;
  /** Aborts when this dispatcher does not have the command any more. */
  signal: AbortSignal;
}

/** Runs a command. Throws if it failed; a {@link SetupError} states the remedy. */
export type RunCommand = (work: CommandWork) => Promise<void>;

/** The commands that this dispatcher runs. */
interface CommandRunner {
  loop: Loop;
  active(): number;
  /** Interrupts the running commands and releases their leases: another dispatcher begins them again. */
  stop(graceMs: number): Promise<void>;
}

/** A command fails after so many tries, so that a command which ends dispatchers is not tried forever. */
const MAX_TRIES = 5;

/** The services and settings of a command runner. */
interface CommandRunnerDeps {
  store: Pick<Store, 'commands'>;
  run: RunCommand;
  dispatcher: string;
  leaseMs: number;
  /** Time between two rounds without a wake-up. A wake-up may be lost, and an expired lease sends none. */
  everyMs: number;
  log: Log;
}

/** See {@link CommandRunner}. */
export function createCommandRunner(deps: CommandRunnerDeps): CommandRunner {
  const { store, log, leaseMs, dispatcher } = deps;
  const running = new Map<string, { lease: CommandLease; over: AbortController; done: Promise<void> }>();
  let stopped = false;

  async function claim(id: string): Promise<void> {
    const answer = await store.commands.claim({ id, dispatcher, leaseMs });
    if (answer.outcome !== 'claimed') return;
    const over = new AbortController();
    const done = carryOut(deps, answer.claimed, over)
      .catch((err: unknown) => log.warn({ command: id, err }, 'cannot record the end of a command'))
      .finally(() => running.delete(id));
    running.set(id, { lease: answer.claimed.lease, over, done });
  }

  async function claimOpen(): Promise<void> {
    const open = await store.commands.open();
    const first = new Map(open.toReversed().map((command) => [command.cluster, command.id]));
    for (const id of first.values()) if (!stopped && !running.has(id)) await claim(id);
  }

  return {
    loop: createLoop({ name: 'commands', everyMs: deps.everyMs, run: claimOpen, log }),
    active: () => running.size,
    async stop(graceMs) {
      stopped = true;
      const left = [...running.values()];
      for (const { over } of left) over.abort(new Error('the dispatcher stops'));
      await Promise.all(left.map(({ lease }) => store.commands.renew(lease, 0).catch(() => false)));
      await settledWithin(graceMs, Promise.all(left.map(({ done }) => done)));
    },
  };
}

/** Runs a command, renews its lease meanwhile, and records its end. Aborts `over` if the lease is lost. */
async function carryOut(
  { store, log, leaseMs, run }: CommandRunnerDeps,
  { lease, ...claimed }: ClaimedCommand,
  over: AbortController,
): Promise<void> {
  const problems: CommandProblem[] = [];
  const findings: PreflightFinding[] = [];
  const context = { command: lease.id, cluster: lease.cluster, kind: claimed.kind };
  const lost = () => over.abort(new Error('the lease is lost'));
  const renewal = setInterval(async () => {
    if (!(await store.commands.renew(lease, leaseMs).catch(() => true))) lost();
  }, leaseMs / 3);
  const work: CommandWork = {
    ...claimed,
    cluster: lease.cluster,
    signal: over.signal,
    async say(line) {
      over.signal.throwIfAborted();
      if (!(await store.commands.report(lease, line))) lost();
      over.signal.throwIfAborted();
    },
    warn: (message, remedy) => void problems.push({ severity: 'warning', message, remedy }),
    found: (more) => void findings.push(...more),
  };
  let state: 'succeeded' | 'failed' = 'succeeded';
  try {
    if (claimed.tries > MAX_TRIES)
      throw new SetupError(
        `The command was given up after ${MAX_TRIES} tries.`,
        'The logs of the dispatchers say more.',
      );
    await run(work);
  } catch (error) {
    if (over.signal.aborted) return log.info(context, 'the command was left to another dispatcher');
    state = 'failed';
    problems.push(toCommandProblem(error, lease.cluster));
    // No message contains the request's secrets; the cause of a refused token is not logged.
    log.warn({ ...context, reason: problems.at(-1)?.message }, 'the command failed');
  } finally {
    clearInterval(renewal);
  }
  await store.commands.end(lease, { state, problems, findings });
  log.info({ ...context, state }, 'the command is over');
}
