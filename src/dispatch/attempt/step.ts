import type { Ended } from '../../core/events.ts';
import { type AllocatedNode, SPEC_VERSION, type StoredCheckpoint } from '../../core/launch-plan.ts';
import { type Backoff, retryUntil } from '../../core/retry.ts';
import { allowedOn } from '../../engines/allowed.ts';
import type { ResolvedSpec } from '../../engines/registry.ts';
import type { Cluster } from '../../store/clusters/types.ts';
import { type AttemptContext, cancelAttempt, settle } from './context.ts';
import { countFaults, type Fault } from './decide.ts';
import { isRetryable } from './faults.ts';

/** The result of one step of an attempt's lifecycle. A step never rejects. */
export type StepResult =
  /** The lifecycle continues with the next step. */
  { kind: 'next' } | Ending;

/** A result that ends the lifecycle. */
export type Ending =
  /** The attempt has ended, and its driver does not run. */
  | { kind: 'ended'; ended: Ended }
  /** The experiment has failed: no attempt of it can succeed. */
  | { kind: 'refused'; reason: string; quarantined?: true }
  | Stale
  | Interrupted;

/** The record is stale: the cluster knows attempt `highest`, either `launched` or only as a tombstone. */
export interface Stale {
  kind: 'stale';
  highest: number;
  launched: boolean;
}

/** This dispatcher leaves the attempt: the lease was lost or handed over, or retrying does not help. */
export type Interrupted = { kind: 'yielded' } | { kind: 'fault'; error: unknown };

export const NEXT = { kind: 'next' } as const;
export const YIELDED = { kind: 'yielded' } as const;

/**
 * Repeats one try of a step until it returns a result, with a wait after each fault that may pass. `signal`, by default
 * the end of the lease or a hand-over, ends the tries. `what` completes the log message "cannot … yet".
 */
export async function repeat<Result>(
  context: AttemptContext,
  what: string,
  step: (backoff: Backoff) => Promise<Result>,
  { signal = context.yielded, retryable = isRetryable } = {},
): Promise<Result | Interrupted> {
  const { experiment, attempt } = context.lease;
  const { log, retry: waits } = context.deps;
  const shouldRetry = (error: unknown): boolean => {
    if (!retryable(error)) return false;
    void settle(context);
    if (!signal.aborted) log.warn({ experiment, attempt, err: error }, `cannot ${what} yet`);
    return true;
  };
  const work = async (backoff: Backoff) => (signal.aborted ? YIELDED : await step(backoff));
  return await retryUntil(work, { waits, shouldRetry, signal }).catch((error: unknown) => ({
    kind: 'fault',
    error,
  }));
}

/** The terms of an attempt: its spec, and the earlier attempts that the decision about its end depends on. */
export interface Terms {
  spec: ResolvedSpec['spec'];
  /** Environment variables of the cluster. */
  clusterEnv: Readonly<Record<string, string>>;
  /** Why the ray-worker cannot run a launch plan of this process, by its last report; null: it can, or it did not say. */
  otherVersion: string | null;
  /** What the cluster allows. */
  allowed: ReturnType<typeof allowedOn>;
  /** The checkpoints that earlier attempts uploaded to its store, the newest last. */
  storedCheckpoints: readonly StoredCheckpoint[];
  /** The nodes on which it must run. */
  nodes: readonly AllocatedNode[];
  /** Earlier attempts by the fault that ended them. */
  faults: Readonly<Record<Fault, number>>;
  /** Earlier attempts whose supervisor was lost. */
  supervisorsLost: number;
}

/** Reads the experiment's record. Yields if the record does not have this attempt. */
export function readTerms(context: AttemptContext): Promise<{ kind: 'terms'; terms: Terms } | Interrupted> {
  const { store } = context.deps;
  const { experiment, attempt } = context.lease;
  return repeat(context, 'read the record', async () => {
    const [record, attempts, [cluster], nodes, storedCheckpoints] = await Promise.all([
      store.experiments.get(experiment),
      store.attempts.list(experiment),
      store.clusters.list([context.cluster]),
      store.attempts.allocation(context.cluster, experiment),
      store.experiments.storedCheckpoints(experiment),
    ]);
    if (record === undefined || record.attempt !== attempt) return YIELDED;
    if (record.state === 'cancelling') cancelAttempt(context);
    const earlier = attempts.filter((one) => one.attempt < attempt);
    const terms = {
      spec: record.resolved as ResolvedSpec['spec'],
      clusterEnv: cluster?.env ?? {},
      otherVersion: cluster === undefined ? null : otherVersion(cluster),
      allowed: allowedOn([cluster ?? {}]),
      storedCheckpoints,
      nodes,
      faults: countFaults(earlier),
      supervisorsLost: earlier.filter((one) => one.ended?.cause === 'supervisor-lost').length,
    };
    return { kind: 'terms', terms };
  });
}

function otherVersion({ name, rayWorkerVersion, specVersions }: Cluster): string | null {
  if (specVersions === undefined || specVersions.includes(SPEC_VERSION)) return null;
  const runs = specVersions.length === 0 ? 'an older version' : `version ${specVersions.join(', ')}`;
  return `the ray-worker of ${name} (${rayWorkerVersion}) runs launch plans of ${runs}, and this dispatcher makes version ${SPEC_VERSION}: update the older of the two`;
}
