import { settledWithin } from '../../core/settled-within.ts';
import type { Store } from '../../store/store.ts';
import type { Log } from '../log.ts';
import { createLoop, type Loop } from '../loop.ts';
import type { AttemptEntry, AttemptServices } from './context.ts';
import { type AttemptRun, runAttempt } from './run-attempt.ts';
import type { AttemptOutcome } from './steps/conclude.ts';

/*
 * Invariant: an attempt is in `runs` exactly while this dispatcher believes that it has the lease, and each such lease
 * is renewed. If the belief is wrong, the store and the ray-worker refuse what the dispatcher does.
 */

const TAKEOVERS_AT_ONCE = 64;
/** The time that a hand-over leaves for recording events and confirming launches under way. */
const HAND_OVER_MS = 1_500;
/** The time that a stop leaves for a renewal under way. */
const RENEWAL_MS = 500;

type Runs = Map<string, AttemptRun>;

/** The attempts whose leases this dispatcher has, and the loops that renew leases and take expired ones over. */
export interface LeasedAttempts {
  runs: ReadonlyMap<string, AttemptRun>;
  begin(entry: AttemptEntry): void;
  renewal: Loop;
  takeover: Loop;
  /** From now on no attempt is taken over, and one that begins is handed over at once. */
  close(): void;
  /** Leaves all attempts. With `handOver` after the event or launch under way, and with their leases released. */
  leaveAll(handOver: boolean): Promise<void>;
}

/** The services and settings of the leased attempts. */
interface LeasedAttemptsDeps {
  store: Store;
  /** The other services of the lifecycle. */
  attempt: Omit<AttemptServices, 'store' | 'log'>;
  dispatcher: string;
  leaseMs: number;
  /** Clusters that this dispatcher does not reach, and another one does: their attempts are given up. */
  cutOff(): ReadonlySet<string>;
  /** Called when an attempt is over; with `queued` its experiment is back in the queue. */
  onEnd(experiment: string, outcome: NonNullable<AttemptOutcome>): void;
  log: Log;
}

/** See {@link LeasedAttempts}. */
export function createLeasedAttempts(deps: LeasedAttemptsDeps): LeasedAttempts {
  const { store, log, leaseMs, onEnd } = deps;
  const runs: Runs = new Map();
  let closed = false;

  function begin(entry: AttemptEntry): void {
    const { experiment } = entry.lease;
    // This dispatcher may have lost the lease and taken it over again: the run with the old token is void.
    runs.get(experiment)?.drop();
    const run = runAttempt({ ...deps.attempt, store, log }, entry);
    runs.set(experiment, run);
    if (closed) run.handOver();
    void run.done.then((outcome) => {
      if (closed && outcome === null) return; // leaveAll() releases its lease
      if (runs.get(experiment) === run) runs.delete(experiment);
      if (outcome !== null) onEnd(experiment, outcome);
    });
  }

  const takeOver = createTakeover(deps, { runs, begin, isClosed: () => closed });
  const everyMs = leaseMs / 3;
  const renewal = createLoop({ name: 'lease renewal', everyMs, log, run: () => renew(runs, deps) });
  return {
    runs,
    begin,
    renewal,
    takeover: createLoop({ name: 'takeover', everyMs, log, run: takeOver }),
    close() {
      closed = true;
    },
    async leaveAll(handOver) {
      if (handOver) {
        const leaving = [...runs.values()];
        for (const run of leaving) run.handOver();
        await settledWithin(HAND_OVER_MS, Promise.all(leaving.map((run) => run.done)));
      }
      const leases = [...runs.values()].map((run) => run.lease);
      for (const run of runs.values()) run.drop();
      // The leases are renewed until now, because only their holder can release them.
      await settledWithin(RENEWAL_MS, renewal.stop());
      if (!handOver || leases.length === 0) return;
      await store.attempts.release(leases).catch((error) => {
        log.warn({ err: error }, 'cannot release the leases; they expire by themselves');
      });
    },
  };
}

/**
 * Leaves the attempts of clusters that only other dispatchers reach to them, and takes every other expired lease over, as
 * long as the attempts are not closed.
 */
function createTakeover(
  { store, log, dispatcher, leaseMs, cutOff }: LeasedAttemptsDeps,
  { runs, begin, isClosed }: Pick<LeasedAttempts, 'begin'> & { runs: Runs; isClosed: () => boolean },
): () => Promise<void> {
  const startedAt = performance.now();
  return async () => {
    const unreached = [...cutOff()];
    const left = [...runs.values()].filter(({ cluster }) => unreached.includes(cluster));
    if (left.length > 0) {
      log.warn({ clusters: unreached, attempts: left.length }, 'leaves attempts to other dispatchers');
      await giveUp(left, runs);
      await store.attempts.release(left.map(({ lease }) => lease));
    }
    for (let more = true; more && !isClosed(); ) {
      // A process that dies soon after each start would charge attempts that have nothing to do with it.
      const suspects = performance.now() - startedAt > leaseMs;
      const limit = TAKEOVERS_AT_ONCE;
      const taken = await store.attempts.takeOver({ dispatcher, leaseMs, limit, suspects, unreached });
      for (const attempt of taken) {
        const { lease, state, confirmed, lastSequence } = attempt;
        const { experiment, attempt: number } = lease;
        log.info({ experiment, attempt: number, state, confirmed, lastSequence }, 'took over an attempt');
        begin({ ...attempt, takenOver: true });
      }
      more = taken.length === TAKEOVERS_AT_ONCE;
    }
  };
}

/** Ends the work on attempts after the event or launch under way. Their drivers continue. */
async function giveUp(left: readonly AttemptRun[], runs: Runs): Promise<void> {
  for (const run of left) run.handOver();
  await settledWithin(HAND_OVER_MS, Promise.all(left.map((run) => run.done)));
  for (const run of left) {
    run.drop();
    if (runs.get(run.lease.experiment) === run) runs.delete(run.lease.experiment);
  }
}

/** Renews all leases, and tells each run what the store knows of its attempt. */
async function renew(
  runs: LeasedAttempts['runs'],
  { store, leaseMs }: Pick<LeasedAttemptsDeps, 'store' | 'leaseMs'>,
): Promise<void> {
  if (runs.size === 0) return;
  const leases = [...runs.values()].map((run) => run.lease);
  for (const { lease, status, state, limitReached, preemption } of await store.attempts.renew(
    leases,
    leaseMs,
  )) {
    const run = runs.get(lease.experiment);
    if (run?.lease.token !== lease.token) continue; // another run has begun in the meantime
    if (status === 'lost') run.drop();
    else {
      run.renewed(leaseMs);
      if (state === 'cancelling') run.cancel();
      else if (limitReached !== null) run.limit(limitReached);
      else run.preempt(preemption);
    }
  }
}
