import { within } from '../../queue/looking.ts';
import type { TakenOver } from '../../store/attempts/contract.ts';
import type { Store } from '../../store/store.ts';
import type { Log } from '../log.ts';
import { createLoop, type Loop } from '../loop.ts';
import { type AttemptRun, runAttempt } from './attempt.ts';
import type { AttemptDeps, Entry } from './story.ts';

/*
 * What always holds: an attempt is in `runs` exactly while this dispatcher believes that it holds its lease, and each
 * of them is renewed; what a dispatcher believes wrongly, the store and the ray-worker refuse.
 */

const TAKEOVERS_AT_ONCE = 64;
/** Events under way get so long to be recorded at a hand-over, and a launch so long to be confirmed. */
const HAND_OVER_MS = 1_500;
/** A renewal under way gets so long at a stop. */
const RENEWAL_MS = 500;

/** The attempts whose leases are ours, with the loops that keep them and that take over those of others. */
export interface Held {
  runs: ReadonlyMap<string, AttemptRun>;
  begin(entry: Entry): void;
  renewal: Loop;
  takeover: Loop;
  /** From now on attempts are only left, none is taken. */
  close(): void;
  /** Leaves all attempts; with `handOver` at an event's boundary, and their leases are let go. */
  letGo(handOver: boolean): Promise<void>;
}

/** See {@link Held}. */
export function createHeld(deps: {
  store: AttemptDeps['store'] & Pick<Store, 'takeOver' | 'renew' | 'release'>;
  /** What attempts need of the rest. */
  attempt: Omit<AttemptDeps, 'store' | 'log'>;
  dispatcher: string;
  leaseMs: number;
  /** An attempt of ours is over. */
  onEnd(): void;
  log: Log;
}): Held {
  const { store, log, dispatcher, leaseMs, onEnd } = deps;
  const runs = new Map<string, AttemptRun>();
  const startedAt = performance.now();
  let closed = false;

  function begin(entry: Entry): void {
    const { experiment } = entry.lease;
    // Our own lease may have run out and come back to us: the story under the old token is over.
    runs.get(experiment)?.drop();
    const run = runAttempt({ ...deps.attempt, store, log }, entry);
    runs.set(experiment, run);
    if (closed) run.handOver();
    void run.done.then((outcome) => {
      if (closed && outcome === null) return; // kept until its lease is let go
      if (runs.get(experiment) === run) runs.delete(experiment);
      if (outcome !== null) onEnd();
    });
  }

  async function takeOver(): Promise<void> {
    for (let more = true; more && !closed; ) {
      // A process that dies soon after its start, whatever it does, would charge what is innocent.
      const suspects = performance.now() - startedAt > leaseMs;
      const taken = await store.takeOver({ dispatcher, leaseMs, limit: TAKEOVERS_AT_ONCE, suspects });
      for (const attempt of taken) {
        log.info(describe(attempt), 'took over an attempt');
        begin({ ...attempt, takenOver: true });
      }
      more = taken.length === TAKEOVERS_AT_ONCE;
    }
  }

  const everyMs = leaseMs / 3;
  const renew = () => renewAll({ store, runs, leaseMs });
  const renewal = createLoop({ name: 'lease renewal', everyMs, log, run: renew });
  return {
    runs,
    begin,
    renewal,
    takeover: createLoop({ name: 'takeover', everyMs, log, run: takeOver }),
    close() {
      closed = true;
    },
    async letGo(handOver) {
      const leaving = [...runs.values()];
      if (handOver) {
        for (const run of leaving) run.handOver();
        await within(HAND_OVER_MS, Promise.all(leaving.map((run) => run.done)));
      }
      const leases = [...runs.values()].map((run) => run.lease);
      for (const run of runs.values()) run.drop();
      // Renewed until now: a lease that is let go is let go by its holder.
      await within(RENEWAL_MS, renewal.stop());
      if (!handOver || leases.length === 0) return;
      await store.release(leases).catch((error) => {
        log.warn({ err: error }, 'the leases could not be let go; they run out by themselves');
      });
    },
  };
}

/** Renews all leases in one call, and tells each attempt what came of it. */
async function renewAll({
  store,
  runs,
  leaseMs,
}: {
  store: Pick<Store, 'renew'>;
  runs: ReadonlyMap<string, AttemptRun>;
  leaseMs: number;
}): Promise<void> {
  if (runs.size === 0) return;
  const renewals = await store.renew(
    [...runs.values()].map((run) => run.lease),
    leaseMs,
  );
  for (const { lease, status, state, limitReached } of renewals) {
    const run = runs.get(lease.experiment);
    // Another story may have begun for the same experiment in the meantime.
    if (run?.lease.token !== lease.token) continue;
    if (status === 'lost') run.drop();
    else run.renewed(leaseMs);
    if (status === 'lost') continue;
    if (state === 'cancelling') run.cancel();
    else if (limitReached !== null) run.limit(limitReached);
  }
}

function describe({ lease, state, confirmed, lastSequence }: TakenOver): object {
  return { experiment: lease.experiment, attempt: lease.attempt, state, confirmed, lastSequence };
}
