import type { RayWorkerClient } from '../../rpc/ray-worker.ts';
import { RayWorkerError } from '../../rpc/status.ts';
import { eventLogDaysOf } from '../../schemas/retention.ts';
import { isLeapt } from '../../store/clock/judge.ts';
import type { Forgetting } from '../../store/retention/retention.ts';
import type { Store } from '../../store/store.ts';
import { type BackgroundWork, forEachExperiment } from './for-each-experiment.ts';

/*
 * A ray-worker deletes the files of an experiment, above all its event logs, some time after the experiment's end, or
 * as soon as the experiment is deleted.
 */

const DAY_MS = 24 * 3600 * 1000;
/**
 * How long event logs are retained after the end, unless the project has a policy. Long enough to restore a backup: the ray-worker then still knows each attempt that runs according to the restored
 * records.
 */
const FORGET_MS = 7 * DAY_MS;
/** The time between two checks of an experiment whose project retains event logs for longer: the policy may change. */
const RECHECK_MS = DAY_MS;
/** Stands for every attempt of a deleted experiment. */
const EVERY_ATTEMPT = 2 ** 32 - 1;
const ANSWER_MS = 30_000;
/** Experiments that are forgotten at the same time. */
const TOGETHER = 8;
/** Experiments in one step, and for how long no other dispatcher takes them. */
const AT_ONCE = 50;
const LEASE_MS = 10 * 60_000;

/** Finds the ray-worker of a cluster. */
export type FindRayWorker = (cluster: string) => Promise<Pick<RayWorkerClient, 'forget'>>;

/**
 * Has the ray-workers forget the experiments that are due. A ray-worker that does not answer is not asked again in this
 * call, so that it does not delay the experiments of other clusters; its own experiments are taken again later.
 */
export async function forgetExperiments(
  deps: BackgroundWork & { store: Store; rayWorkerOf: FindRayWorker },
): Promise<void> {
  const { store, rayWorkerOf, stopped } = deps;
  const afterMs = FORGET_MS;
  const { time, correction } = await store.clock.read();
  if (isLeapt(correction)) return;
  const known = (await store.clusters.list()).map(({ name }) => name);
  const everywhere = new Map(known.map((name) => [name, EVERY_ATTEMPT]));
  const isRetained = await readPolicies(store, time);
  const silent = new Set<string>();
  for (let more = true; more && !stopped(); ) {
    const taken = await store.retention.takeForgetting({ limit: AT_ONCE, leaseMs: LEASE_MS, afterMs });
    const later = taken.filter(isRetained);
    const laterIds = later.map(({ id }) => id);
    await store.retention.forgetLater(laterIds, { laterMs: RECHECK_MS, afterMs });
    const due = new Map(taken.filter((one) => !later.includes(one)).map(({ id, record }) => [id, record]));
    await forEachExperiment(
      { ...deps, atOnce: TOGETHER },
      due.keys(),
      'forgetting on the cluster',
      async (id) => {
        const attempts = due.get(id)?.attempts ?? everywhere;
        await forget(
          { rayWorkerOf, silent },
          id,
          [...attempts].filter(([cluster]) => known.includes(cluster)),
        );
        await store.retention.forgotten([id]);
        return true;
      },
    );
    more = taken.length === AT_ONCE;
  }
}

/** Whether the present policy of its project still retains an experiment's event logs. */
async function readPolicies(store: Store, now: number): Promise<(one: Forgetting) => boolean> {
  const policies = new Map(
    (await store.projects.list()).map(({ name, retention }) => [name, eventLogDaysOf(retention)]),
  );
  return ({ record }) => {
    const days = record === null ? undefined : policies.get(record.project);
    if (record === null || days === undefined) return false;
    if (days !== null && days * DAY_MS <= FORGET_MS) return false;
    return days === null || now < record.endedAt + days * DAY_MS;
  };
}

/** Throws if a cluster with files of the experiment did not answer, now or before in this call. */
async function forget(
  { rayWorkerOf, silent }: { rayWorkerOf: FindRayWorker; silent: Set<string> },
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
      // A ray-worker that does not know the call, or refuses it, would not do it later either.
      if (error instanceof RayWorkerError && !error.retry) continue;
      silent.add(cluster);
      throw error;
    }
  }
}
