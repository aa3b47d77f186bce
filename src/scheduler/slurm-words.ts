import { plural } from 'command-kit/plural';
import type { Cluster, SlurmJob } from '../store/clusters/types.ts';

/** Label of a node in Ray that names the job which brought it. */
export const JOB_LABEL = 'slurm-job';

/** What a round knows of the jobs that a cluster has asked Slurm for. */
export interface SlurmWait {
  /** Those that bring no node yet, in Slurm's order. */
  head: readonly SlurmJob[];
  nodes: readonly SlurmJob[];
  problem: string | null;
  /** When the nodes of its running jobs end, by node, in ms since 1970. */
  ends: ReadonlyMap<string, number>;
  /** How long a new node lasts, in ms. */
  lastsMs: number;
}

/** Whether a job waits or runs, and its node is not there yet. */
export const isComing = ({ endedAt, node, cancelled }: SlurmJob): boolean =>
  endedAt === null && node === null && cancelled === null;

/** Undefined: the cluster gets no nodes from Slurm. */
export function slurmWait({
  slurm,
  slurmState,
  nodes,
}: Pick<Cluster, 'slurm' | 'slurmState' | 'nodes'>): SlurmWait | undefined {
  if (slurm === undefined) return undefined;
  const { jobs = [], problem = null } = slurmState ?? {};
  const coming = jobs.filter(isComing);
  return {
    head: coming.filter(({ role }) => role === 'head'),
    nodes: coming.filter(({ role }) => role === 'node'),
    problem,
    ends: new Map(
      nodes.flatMap(({ id, labels }) => {
        const job = jobs.find((one) => one.job !== null && one.job === labels?.[JOB_LABEL]);
        return job?.endsAt == null ? [] : [[id, job.endsAt] as const];
      }),
    ),
    lastsMs: slurm.minutes * 60_000,
  };
}

/** For example "asked Slurm for 2 nodes (job 4711, Resources, expected 14:20 UTC)". */
export function askedOfSlurm({ nodes, problem }: SlurmWait, count: number): string {
  const own = nodes.find((job) => job.count === count) ?? nodes[0];
  return `asked Slurm for ${plural(count, 'node')}${details(own === undefined ? [] : [own], problem)}`;
}

/** Why an experiment that has room on a node does not start there. */
export function endsTooSoon(node: string, endsAt: number): string {
  return `node ${node} leaves at ${clock(endsAt)}, before the work of this experiment would be saved`;
}

/** Why an experiment starts on no node of these clusters: it would lose its work each time. Null: it may. */
export function savesTooRarely(
  ms: number,
  clusters: readonly { name: string; slurm?: SlurmWait | undefined }[],
): string | null {
  const lasts = clusters.map(({ slurm }) => slurm?.lastsMs ?? Number.POSITIVE_INFINITY);
  const longest = Math.max(0, ...lasts);
  if (clusters.length === 0 || ms <= longest) return null;
  const minutes = (of: number) => `${Math.ceil(of / 60_000)} min`;
  return `saves its work every ${minutes(ms)}, but a node of ${clusters[0]!.name} lasts ${minutes(longest)}: save more often (training.saveEvery), or give the cluster a longer --time`;
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
