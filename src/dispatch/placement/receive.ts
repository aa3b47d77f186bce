import { randomUUID } from 'node:crypto';
import { type RetryWaits, retryUntil } from '../../core/retry.ts';
import { settledWithin } from '../../core/settled-within.ts';
import type { Served } from '../../queue/serve.ts';
import type { Acquired } from '../../store/attempts/types.ts';
import type { Store } from '../../store/store.ts';
import type { LeasedAttempts } from '../attempt/leased-attempts.ts';

/**
 * A job stays active until the launch is confirmed, but no longer than this: a launch that cannot be confirmed must not
 * hold a slot of the BullMQ worker, and BullMQ's recovery of stalled jobs takes time quadratic in the active ones.
 */
const LAUNCH_MS = 30_000;
/** How long to retry the acquisition of a lease; after that, the job is received again later. */
const ACQUIRE_MS = 10_000;

/** The state of an attempt that was just acquired. */
const FRESH = {
  state: 'launching',
  confirmed: false,
  lastSequence: 0,
  takenOver: false,
  crashes: [],
} as const;

const SERVED = { busy: 'soon', queued: 'queued', over: 'complete' } as const;

/** Handles a received job: acquires the lease of the allocated attempt and begins it. */
export function createReceive(deps: {
  store: Pick<Store, 'attempts'>;
  leased: Pick<LeasedAttempts, 'begin' | 'runs'>;
  dispatcher: string;
  leaseMs: number;
  retry: RetryWaits;
  stopping: () => boolean;
  /** Clusters that this dispatcher does not reach: another one launches the attempts there. */
  cutOff: () => ReadonlySet<string>;
}): (experiment: string) => Promise<Served> {
  const { store, leased, dispatcher, leaseMs, retry, stopping, cutOff } = deps;

  /** Repeats a call whose answer was lost with the same token: otherwise the attempt would wait for the end of its lease. */
  async function acquire(experiment: string): Promise<Acquired> {
    const token = randomUUID();
    const signal = AbortSignal.timeout(ACQUIRE_MS);
    const input = { experiment, dispatcher, leaseMs, token, unreached: [...cutOff()] };
    return await retryUntil(() => store.attempts.acquire(input), {
      waits: retry,
      shouldRetry: () => !signal.aborted && !stopping(),
      signal,
    });
  }

  return async (experiment) => {
    if (stopping()) return 'soon';
    const acquired = await acquire(experiment);
    if (acquired.outcome !== 'acquired') return SERVED[acquired.outcome];
    const { lease, cluster } = acquired;
    leased.begin({ ...FRESH, lease, cluster });
    await settledWithin(LAUNCH_MS, leased.runs.get(experiment)!.placed);
    return 'complete';
  };
}
