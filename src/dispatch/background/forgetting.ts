import type { RayWorkerClient } from '../../rpc/ray-worker.ts';
import { RayWorkerError } from '../../rpc/status.ts';
import { eventLogDaysOf } from '../../schemas/retention.ts';
import type { Forgetting } from '../../store/archive/contract.ts';
import type { Store } from '../../store/store.ts';
import { each, type Round } from './each.ts';

/*
 * What a ray-worker keeps of an experiment, its event logs above all, goes some time after the end, or as soon as the
 * experiment is deleted.
 */

const DAY_MS = 24 * 3600 * 1000;
/**
 * Long enough for a restore of a backup: an attempt that the restored records take for running is then still known where
 * it ran.
 */
const FORGET_MS = 7 * DAY_MS;
/** Where a project keeps event logs for longer, an experiment is looked at again so often: its policy may change. */
const LOOK_AGAIN_MS = DAY_MS;
/** Of a deleted experiment every attempt is forgotten, wherever it ran. */
const EVERY_ATTEMPT = 2 ** 32 - 1;
const ANSWER_MS = 30_000;
/** Experiments that are forgotten at a time. */
const TOGETHER = 8;
/** Experiments in one step, and for how long nobody else takes them. */
const AT_ONCE = 50;
const LEASE_MS = 10 * 60_000;

/** What forgetting takes. */
export interface ForgettingDeps extends Round {
  store: Pick<Store, 'takeForgetting' | 'forgetLater' | 'forgotten' | 'clusters' | 'projects'>;
  /** The ray-worker's own event logs stay for so long after the end, where their project says nothing else. */
  forgetAfterMs?: number;
  rayWorkerOf: (cluster: string) => Promise<Pick<RayWorkerClient, 'forget'>>;
  now: () => number;
}

/**
 * Has the ray-workers forget the experiments whose time has come. One that does not answer is not asked again in this
 * round, so that it costs the experiments of other clusters no time; its own come back later.
 */
export async function forgetOld(deps: ForgettingDeps): Promise<void> {
  const { store, forgetAfterMs: afterMs = FORGET_MS, stopped } = deps;
  const known = (await store.clusters()).map(({ name }) => name);
  const everywhere = new Map(known.map((name) => [name, EVERY_ATTEMPT]));
  const isKept = await readPolicies(deps);
  const silent = new Set<string>();
  for (let more = true; more && !stopped(); ) {
    const taken = await store.takeForgetting({ limit: AT_ONCE, leaseMs: LEASE_MS, afterMs });
    const later = taken.filter(isKept);
    const laterIds = later.map(({ id }) => id);
    await store.forgetLater(laterIds, { laterMs: LOOK_AGAIN_MS, afterMs });
    const due = new Map(taken.filter((one) => !later.includes(one)).map(({ id, record }) => [id, record]));
    await each({ ...deps, atOnce: TOGETHER }, due.keys(), 'forgetting on the cluster', async (id) => {
      const attempts = due.get(id)?.attempts ?? everywhere;
      await forget(
        { ...deps, silent },
        id,
        [...attempts].filter(([cluster]) => known.includes(cluster)),
      );
      await store.forgotten([id]);
      return true;
    });
    more = taken.length === AT_ONCE;
  }
}

/** Whether what is kept of one stays, as its project says now. */
async function readPolicies({
  store,
  now,
}: Pick<ForgettingDeps, 'store' | 'now'>): Promise<(one: Forgetting) => boolean> {
  const policies = new Map(
    (await store.projects()).map(({ name, retention }) => [name, eventLogDaysOf(retention)]),
  );
  return ({ record }) => {
    const days = record === null ? undefined : policies.get(record.project);
    if (record === null || days === undefined) return false;
    if (days !== null && days * DAY_MS <= FORGET_MS) return false;
    return days === null || now() < record.endedAt + days * DAY_MS;
  };
}

/** Throws where a cluster that keeps something of it did not answer, now or before in this round. */
async function forget(
  { rayWorkerOf, silent }: Pick<ForgettingDeps, 'rayWorkerOf'> & { silent: Set<string> },
  id: string,
  attempts: readonly (readonly [cluster: string, highest: number])[],
): Promise<void> {
  const unanswered = attempts.find(([cluster]) => silent.has(cluster));
  if (unanswered) throw new Error(`the ray-worker of ${unanswered[0]} does not answer`);
  for (const [cluster, attempt] of attempts) {
    try {
      const rayWorker = await rayWorkerOf(cluster);
      await rayWorker.forget(id, attempt, AbortSignal.timeout(ANSWER_MS));
    } catch (error) {
      // A ray-worker that does not know the call, or refuses it, will not do it later either.
      if (error instanceof RayWorkerError && !error.retry) continue;
      silent.add(cluster);
      throw error;
    }
  }
}
