import { nodeState } from '../../../core/node-states.ts';
import { freeOn } from '../../../scheduler/nodes.ts';
import type { ClusterView } from '../../../schemas/api.ts';
import type { Experiment } from '../../../schemas/experiment.ts';
import type { Allocation, Cluster, ClusterNode } from '../../../store/clusters/types.ts';
import type { Pauses } from '../../../store/queue/types.ts';
import type { Store } from '../../../store/store.ts';

/** All clusters, by name, as they are shown. */
export async function clusterViews({
  store,
}: {
  store: Pick<Store, 'clusters' | 'queue'>;
}): Promise<ClusterView[]> {
  const clusters = await store.clusters.list();
  const pauses = await store.queue.pauses();
  const views = await Promise.all(clusters.map((cluster) => clusterView({ store }, cluster, pauses)));
  return views.sort((left, right) => (left.name < right.name ? -1 : 1));
}

/** Names what is shown: a field that is added to the record later, such as a secret, is not. */
export async function clusterView(
  { store }: { store: Pick<Store, 'clusters' | 'queue'> },
  cluster: Cluster,
  known?: Pauses,
): Promise<ClusterView> {
  const pauses = known ?? (await store.queue.pauses());
  const { items } = await store.clusters.allocations(cluster.name);
  return {
    name: cluster.name,
    address: cluster.address,
    tls: cluster.ca !== null,
    rayAddress: cluster.ray?.address ?? null,
    rayVersion: cluster.rayVersion || null,
    rayWorkerVersion: cluster.rayWorkerVersion ?? null,
    sharedRoot: cluster.sharedRoot ?? null,
    draining: cluster.draining === true,
    answering: cluster.answering === true,
    backfill: cluster.backfill,
    labels: { ...cluster.labels },
    codePaths: [...(cluster.codePaths ?? [])],
    runtimeEnv: [...(cluster.runtimeEnv ?? [])],
    checkpointStores: structuredClone(cluster.checkpointStores ?? {}) as ClusterView['checkpointStores'],
    secretProjects: structuredClone(cluster.secretProjects ?? null) as ClusterView['secretProjects'],
    env: { ...cluster.env },
    storage: cluster.storage ?? null,
    nodeTypes: structuredClone(cluster.nodeTypes ?? []) as ClusterView['nodeTypes'],
    autoscaler: autoscalerOf(cluster),
    slurm: slurmOf(cluster),
    paused: pauses.clusters.get(cluster.name) ?? null,
    lastSeenAt: cluster.lastSeenAt,
    nodes: cluster.nodes.map((node) => nodeView(node, cluster, items)),
    // An experiment on several nodes has an allocation on each.
    experiments: [...new Set(items.map((item) => item.experiment))],
    unknownAttempts: [...(cluster.unknownAttempts ?? [])],
  };
}

function nodeView(
  node: ClusterNode,
  { cordons }: Pick<Cluster, 'cordons'>,
  items: readonly Allocation[],
): ClusterView['nodes'][number] {
  const here = items.filter((item) => item.node === node.id);
  const free = freeOn(node, here);
  const { state, reason } = nodeState({ ...node, cordon: cordons?.[node.id] });
  return {
    id: node.id,
    cpusTotal: node.cpusTotal,
    gpusTotal: node.gpusTotal,
    cpusUsed: node.cpusUsed,
    gpusUsed: node.gpusUsed,
    cpusAllocated: here.reduce((sum, item) => sum + item.cpus, 0),
    gpusAllocated: here.reduce((sum, item) => sum + item.gpus, 0),
    cpusFree: free.cpus,
    gpusFree: free.gpus,
    state,
    stateReason: reason,
    labels: { ...node.labels },
    health: structuredClone(node.health ?? null),
  };
}

function autoscalerOf({ asked }: Cluster): ClusterView['autoscaler'] {
  if (asked === undefined || asked.nodes.length === 0) return null;
  return { nodes: asked.nodes.map((node) => ({ ...node })), since: asked.since };
}

function slurmOf({ slurm, slurmState }: Cluster): ClusterView['slurm'] {
  if (slurm === undefined) return null;
  const { partition, maxNodes } = slurm;
  const { problem = null, waitsUntil = null, answeredAt = null, jobs = [] } = slurmState ?? {};
  const live = jobs.filter(({ endedAt }) => endedAt === null);
  const shown = live.map(({ job, role, state, reason, startsAt, endsAt }) => {
    return { job, role, state, reason, startsAt, endsAt };
  });
  return { partition, maxNodes, problem, waitsUntil, answeredAt, jobs: shown };
}

const HELD: readonly string[] = ['launching', 'running', 'cancelling'];

/**
 * The same experiments; those on a cluster that does not answer say so as their reason, and since when. Nothing is
 * written: once it answers, or has never been silent, the reason is the record's own.
 */
export async function withSilence<T extends Pick<Experiment, 'state' | 'cluster' | 'reason'>>(
  { store }: { store: Pick<Store, 'clusters' | 'queue'> },
  experiments: readonly T[],
): Promise<T[]> {
  const isHeld = ({ state, cluster }: T) => cluster !== null && HELD.includes(state);
  const names = [...new Set(experiments.filter(isHeld).map(({ cluster }) => cluster!))];
  if (names.length === 0) return [...experiments];
  const clusters = new Map((await store.clusters.list(names)).map((cluster) => [cluster.name, cluster]));
  return experiments.map((experiment) => {
    const cluster = isHeld(experiment) ? clusters.get(experiment.cluster!) : undefined;
    if (cluster === undefined || cluster.answering) return experiment;
    return { ...experiment, reason: `${silence(cluster)} (before: ${experiment.reason})` };
  });
}

function silence({ name, lastSeenAt }: Cluster): string {
  return lastSeenAt === null
    ? `the ray-worker of ${name} has not answered yet`
    : `the ray-worker of ${name} has not answered since ${new Date(lastSeenAt).toISOString()}; its experiments continue, but Echelon receives no events`;
}
