import { plural } from 'command-kit/plural';
import type { Cluster, SlurmJob } from '../store/clusters/types.ts';

/** What a round knows of the jobs that a cluster has asked Slurm for. */
export interface SlurmWait {
  /** Those that bring no node yet, in Slurm's order. */
  head: readonly SlurmJob[];
  nodes: readonly SlurmJob[];
  problem: string | null;
}

/** Whether a job waits or runs, and its node is not there yet. */
export const isComing = ({ endedAt, node, cancelled }: SlurmJob): boolean =>
  endedAt === null && node === null && cancelled === null;

/** Undefined: the cluster gets no nodes from Slurm. */
export function slurmWait({
  slurm,
  slurmState,
}: Pick<Cluster, 'slurm' | 'slurmState'>): SlurmWait | undefined {
  if (slurm === undefined) return undefined;
  const { jobs = [], problem = null } = slurmState ?? {};
  const coming = jobs.filter(isComing);
  return {
    head: coming.filter(({ role }) => role === 'head'),
    nodes: coming.filter(({ role }) => role === 'node'),
    problem,
  };
}

/** For example "asked Slurm for 2 nodes (job 4711, Resources, expected 14:20 UTC)". */
export function askedOfSlurm({ nodes, problem }: SlurmWait, count: number): string {
  return `asked Slurm for ${plural(count, 'node')}${details(nodes, problem)}`;
}

/** For example "the head of fleet waits in Slurm (job 4710, Priority)". */
export function headInSlurm(cluster: string, { head, problem }: SlurmWait): string {
  return `the head of ${cluster} waits in Slurm${details(head, problem)}`;
}

function details([job]: readonly SlurmJob[], problem: string | null): string {
  const parts =
    job === undefined
      ? [problem]
      : [
          job.job === null ? null : `job ${job.job}`,
          job.state === 'RUNNING' ? 'its Ray starts' : job.reason,
          job.state !== 'RUNNING' && job.startsAt !== null ? `expected ${clock(job.startsAt)}` : null,
        ];
  const said = parts.filter((part) => part !== null);
  return said.length === 0 ? '' : ` (${said.join(', ')})`;
}

const clock = (at: number): string => `${new Date(at).toISOString().slice(11, 16)} UTC`;
