import { setTimeout as delay } from 'node:timers/promises';
import type { EndCause, Ended } from '../../core/events.ts';
import { JOB_LABEL } from '../../scheduler/slurm-words.ts';
import type { Cluster, SlurmPlace } from '../../store/clusters/types.ts';
import type { AttemptContext } from './context.ts';
import { CAUSE_RULES } from './decide.ts';

/** What the end of a node's job means for the attempt on it, by Slurm's state of the job. */
const CAUSES: Readonly<Record<string, EndCause>> = {
  PREEMPTED: 'preempted',
  TIMEOUT: 'allocation-ended',
  DEADLINE: 'allocation-ended',
  CANCELLED: 'allocation-ended',
  COMPLETED: 'allocation-ended',
};

/**
 * How an attempt ended, as Slurm knows it: if a fault of the cluster ended it on a node whose job is over, Slurm took the node, and
 * nothing has failed. A job that failed by itself stays a fault of the cluster.
 */
export async function withAllocation(context: AttemptContext, ended: Ended): Promise<Ended> {
  if (CAUSE_RULES[ended.cause].again !== 'cluster') return ended;
  const { store } = context.deps;
  const [cluster] = await store.clusters.list([context.cluster]).catch(() => []);
  const place = cluster?.slurm;
  if (place === undefined) return ended;
  for (const { job, before } of jobsOf(cluster!, context)) {
    const state = await finalState(context, place, { job, before });
    const cause = CAUSES[state];
    if (cause !== undefined)
      return { ...ended, cause, message: `job ${job} ended as ${state}${said(ended.message)}` };
  }
  return ended;
}

/** The jobs that brought the nodes of an attempt: by the records of the jobs, or by the labels of nodes that came since. */
function jobsOf({ slurmState, nodes, away = [] }: Cluster, context: AttemptContext) {
  const ids = new Set(context.nodes.map(({ id }) => id));
  const labelled = [...nodes, ...away].flatMap(({ id, labels }) =>
    ids.has(id) ? (labels?.[JOB_LABEL] ?? []) : [],
  );
  const records = slurmState?.jobs ?? [];
  const known = records.flatMap(({ job, node }) =>
    job !== null && node !== null && ids.has(node) ? [job] : [],
  );
  return [...new Set([...known, ...labelled])].map((job) => {
    return { job, before: records.find((one) => one.job === job)?.state ?? 'gone' };
  });
}

/** A driver notices the loss of a node before Slurm has cleared the job away: how long each state may last. */
const LEAVES_WITHIN_MS: Readonly<Record<string, number>> = { RUNNING: 15_000, COMPLETING: 90_000 };
const BETWEEN_MS = 2_500;

/** The state of a job, once it has left its node; the last known one if that takes too long. */
async function finalState(
  { deps, yielded, cluster }: AttemptContext,
  place: SlurmPlace,
  { job, before }: { job: string; before: string },
): Promise<string> {
  const begun = performance.now();
  for (let state = before; ; ) {
    try {
      const listed = await deps.slurm.list(place);
      state = listed.find((one) => one.job === job)?.state ?? state;
    } catch (err) {
      deps.log.warn({ cluster, err }, 'cannot ask Slurm why a node is gone');
      return state;
    }
    const patience = LEAVES_WITHIN_MS[state] ?? 0;
    if (performance.now() - begun >= patience || yielded.aborted) return state;
    await delay(BETWEEN_MS);
  }
}

const said = (message: string): string => (message === '' ? '' : `; ${message}`);
