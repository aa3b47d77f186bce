import type { AllocatedNode } from '../../core/launch-plan.ts';
import type { Cordon } from '../../core/node-states.ts';
import { canonicalJson } from '../../schemas/json.ts';
import { storeTime } from '../clock/clock.ts';
import type { StoreContext } from '../context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import { inKnownLayout } from '../redis/layouts.ts';
import { unlessChanged } from '../redis/revisions.ts';
import type { ScriptArgument } from '../redis/scripts.ts';
import type { Allocation, Cluster, Seen, SlurmState } from './types.ts';

/** A ray-worker without a report for longer counts as not answering. Dispatchers ask it every two seconds. */
const SILENT_MS = 15_000;

/** What users set of a cluster, beside its record. */
const SETTINGS = [
  'labels',
  'backfill',
  'codePaths',
  'runtimeEnv',
  'checkpointStores',
  'env',
  'secretProjects',
  'cordons',
  'storage',
  'nodeTypes',
  'slurm',
] as const;
/** Everything that is stored beside the record of a cluster and its last report. */
const STORED = [...SETTINGS, 'asked', 'slurmState'] as const;

/** Clusters, and what is allocated on them. */
export function createClusters(context: StoreContext) {
  const { redis, keys, run } = context;
  return {
    async put(cluster: Cluster): Promise<void> {
      const { name, address, token, ca, backfill, ray } = cluster;
      const { generation, lastSeenAt, nodes, rayVersion, rayWorkerVersion, sharedRoot } = cluster;
      const decided = canonicalJson({ name, address, token, ca, backfill, ray });
      const seen = { address, generation, lastSeenAt, nodes, rayVersion, rayWorkerVersion, sharedRoot };
      await run('put-cluster', [name, decided, JSON.stringify(seen)]);
    },

    /**
     * Changes settings of a cluster; null deletes one. False: no such cluster. Throws `precondition-failed` if it has another
     * `revision`.
     */
    async set(
      name: string,
      change: { [Setting in (typeof SETTINGS)[number]]?: Cluster[Setting] | null },
      revision?: number,
    ): Promise<boolean> {
      const set = SETTINGS.flatMap((setting): ScriptArgument[] => {
        const value = change[setting];
        return value === undefined ? [] : [setting, value === null ? '' : JSON.stringify(value)];
      });
      return (await unlessChanged(run('set-cluster', [name, revision ?? '', ...set]))) === 1;
    },

    /** Records what the cluster's ray-worker is to ask the autoscaler for. No user changes it, so it has no revision. */
    async ask(name: string, asked: NonNullable<Cluster['asked']>): Promise<void> {
      await runAll(redis.pipeline().hset(`${keys.clusters}:set`, `asked:${name}`, JSON.stringify(asked)));
    },

    /** Leases the work with Slurm to one dispatcher. False: another one has it. */
    async holdSlurm(dispatcher: string, leaseMs: number): Promise<boolean> {
      return (await run('hold-slurm', [dispatcher, leaseMs])) === 1;
    },

    /** Records the jobs of a cluster. False: this dispatcher has no lease, or the cluster gets no nodes from Slurm any more. */
    async recordSlurm(dispatcher: string, name: string, state: SlurmState): Promise<boolean> {
      return (await run('record-slurm', [dispatcher, name, JSON.stringify(state)])) === 1;
    },

    /** Records the report of a cluster's ray-worker; ignored if the cluster was removed or has another address. */
    async see(name: string, seen: Seen): Promise<void> {
      await run('see-cluster', [name, JSON.stringify(seen), seen.address]);
    },

    /** Records that a ray-worker is silent, once for each silence. False: it is not, or that was recorded. */
    async noteSilent(name: string): Promise<boolean> {
      return (await run('note-silent', [name, SILENT_MS])) === 1;
    },

    /** Existing clusters of these names, by name. Default: all. */
    list: (names?: readonly string[]) =>
      names === undefined ? allClusters(context) : clustersNamed(context, names),

    /** Stops or allows new starts; an allocation that was decided before is refused. False: no such cluster. */
    async setDraining(name: string, draining: boolean): Promise<boolean> {
      return (await run('set-draining', [name, draining ? 1 : 0])) === 1;
    },

    /** `busy`: it has allocations, and nothing was changed. */
    async remove(name: string): Promise<'removed' | 'absent' | 'busy'> {
      const answer = await run('remove-cluster', [name, ...STORED]);
      return answer === 1 ? 'removed' : answer === 0 ? 'absent' : 'busy';
    },

    /**
     * Allocations on a cluster and their version, which each new one raises (a release does not). An allocation that names an
     * older version is refused.
     */
    async allocations(cluster: string): Promise<{ version: number; items: Allocation[] }> {
      // The version is read first: a claim in between makes it too old, and what is decided on it is refused.
      const [version, items] = (await runAll(
        redis.pipeline().hget(keys.versions, cluster).hgetall(keys.allocations(cluster)),
      )) as [string | null, Record<string, string>];
      return { version: Number(version ?? 0), items: toAllocations(items) };
    },
  };
}

async function allClusters(context: StoreContext): Promise<Cluster[]> {
  const { redis, keys } = context;
  const commands = redis
    .pipeline()
    .hgetall(keys.clusters)
    .hgetall(keys.seen)
    .smembers(keys.draining)
    .hgetall(`${keys.clusters}:set`);
  const [now, replies] = await Promise.all([storeTime(context), runAll(commands)]);
  const [all, seen, draining, set] = replies as [Hash, Hash, string[], Hash];
  return toClusters(all, { now, seen, draining, set });
}

/** The clusters of these names, without reading others. */
async function clustersNamed(context: StoreContext, names: readonly string[]): Promise<Cluster[]> {
  if (names.length === 0) return [];
  const { redis, keys } = context;
  const set = names.flatMap((name) => STORED.map((setting) => `${setting}:${name}`));
  const commands = redis
    .pipeline()
    .hmget(keys.clusters, ...names)
    .hmget(keys.seen, ...names)
    .smismember(keys.draining, ...names)
    .hmget(`${keys.clusters}:set`, ...set);
  const [now, replies] = await Promise.all([storeTime(context), runAll(commands)]);
  const [all, seen, drained, values] = replies as [Values, Values, number[], Values];
  return toClusters(hashOf(names, all), {
    now,
    seen: hashOf(names, seen),
    draining: names.filter((_name, at) => drained[at] === 1),
    set: hashOf(set, values),
  });
}

/** The existing fields of a hash. */
function hashOf(fields: readonly string[], values: readonly (string | null)[]): Record<string, string> {
  return Object.fromEntries(
    fields.flatMap((field, at) => (values[at] == null ? [] : [[field, values[at]] as const])),
  );
}

type Hash = Record<string, string>;
type Values = (string | null)[];

/** Stored beside the records of clusters: reports of their ray-workers, which clusters are drained, settings by users. */
interface Beside {
  /** Time of the read in ms since 1970, by the server's clock. */
  now: number;
  seen: Record<string, string>;
  draining: string[];
  set: Record<string, string>;
}

/** Clusters by name, from the hash of their records. */
export function toClusters(records: Record<string, string>, beside: Beside): Cluster[] {
  return Object.values(records)
    .map((text) => merge(inKnownLayout('cluster', JSON.parse(text) as Cluster), beside))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** From the hash of a cluster's allocations: one for each node of an experiment. */
export function toAllocations(items: Record<string, string>): Allocation[] {
  return Object.entries(items).flatMap(([experiment, text]) => {
    const { others = [], ...first } = JSON.parse(text) as StoredAllocation;
    const { project, priorityClass } = first;
    const shared = { project, ...(priorityClass && { priorityClass }) };
    return [first, ...others.map((other) => ({ ...other, ...shared }))].map((one) => ({
      experiment,
      ...one,
    }));
  });
}

/** An allocation as it is stored: that of its first node, with those of the others. */
type StoredAllocation = Omit<Allocation, 'experiment'> & {
  others?: Omit<Allocation, 'experiment' | 'project' | 'priorityClass'>[];
};

/** The types of the GPUs of the clusters' nodes, by node, as the ray-workers last reported them. */
export async function gpuTypes(
  { redis, keys }: StoreContext,
  clusters: readonly string[],
): Promise<Map<string, string>> {
  const reports = await guarded(redis.hmget(keys.seen, ...clusters));
  const nodes = reports.flatMap((text) => (text === null ? [] : (JSON.parse(text) as Seen).nodes));
  return new Map(
    nodes.flatMap(({ id, labels }): [string, string][] => {
      const type = labels?.['ray.io/accelerator-type'];
      return type ? [[id, type]] : [];
    }),
  );
}

/** An allocation as it is stored. `types`: of the GPUs, by node. */
export function fromNodes(
  nodes: readonly AllocatedNode[],
  holder: Pick<Allocation, 'project' | 'priorityClass'>,
  types: ReadonlyMap<string, string>,
): string {
  const [first, ...others] = nodes.map(({ id, gpus, cpus }) => {
    const gpuType = gpus > 0 ? types.get(id) : undefined;
    return { node: id, gpus, cpus, ...(gpuType !== undefined && { gpuType }) };
  });
  return JSON.stringify({ ...first, ...holder, ...(others.length > 0 && { others }) });
}

/** Without the cordons that have ended by themselves. */
function lasting(cordons: Record<string, Cordon>, now: number): Record<string, Cordon> {
  return Object.fromEntries(Object.entries(cordons).filter(([, { until = now + 1 }]) => until > now));
}

/** Settings of a cluster by users, with the last report of its ray-worker. */
function merge(cluster: Cluster, all: Beside): Cluster {
  const text = all.seen[cluster.name];
  const seen = text === undefined ? undefined : (JSON.parse(text) as Seen & Pick<Cluster, 'lastSeenAt'>);
  const unseen = { generation: null, lastSeenAt: null, nodes: [] };
  const merged = { ...unseen, ...cluster, ...seen };
  const set = Object.fromEntries(
    STORED.flatMap((name) => {
      const value = all.set[`${name}:${cluster.name}`];
      return value === undefined ? [] : [[name, JSON.parse(value)]];
    }),
  ) as Pick<Cluster, (typeof STORED)[number]>;
  return {
    ...merged,
    answering: merged.lastSeenAt !== null && all.now - merged.lastSeenAt <= SILENT_MS,
    ...set,
    ...(set.cordons && { cordons: lasting(set.cordons, all.now) }),
    ...(all.draining.includes(cluster.name) ? { draining: true } : {}),
  };
}
