import type { EndCause, Ended } from '../../core/events.ts';
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
  const { store, slurm, log } = context.deps;
  const [cluster] = await store.clusters.list([context.cluster]).catch(() => []);
  const place = cluster?.slurm;
  if (place === undefined) return ended;
  const ids = new Set(context.nodes.map(({ id }) => id));
  const jobs = (cluster?.slurmState?.jobs ?? []).filter(({ node }) => node !== null && ids.has(node));
  const listed = await slurm.list(place).catch((err: unknown) => {
    log.warn({ cluster: context.cluster, err }, 'cannot ask Slurm why a node is gone');
    return [];
  });
  for (const { job, state: before } of jobs) {
    const state = listed.find((one) => one.job === job)?.state ?? before;
    const cause = CAUSES[state];
    if (cause !== undefined)
      return { ...ended, cause, message: `job ${job} ended as ${state}${said(ended.message)}` };
  }
  return ended;
}

const said = (message: string): string => (message === '' ? '' : `; ${message}`);
