import type { RayWorkerClient, RayWorkerDescription } from '../../rpc/ray-worker.ts';
import type { AwayNode, Cluster, ClusterNode, Seen } from '../../store/clusters/types.ts';
import type { Store } from '../../store/store.ts';
import type { Log } from '../log.ts';
import { createLoop, type Loop } from '../loop.ts';
import { type CordonRule, cordonBroken } from './faulty-nodes.ts';
import type { RayWorkers } from './ray-workers.ts';
import { createUnknownAttempts } from './unknown-attempts.ts';

/** The live nodes, with the amounts that Ray reports as used. */
export function toClusterNodes({ nodes }: RayWorkerDescription): ClusterNode[] {
  return nodes
    .filter((node) => node.alive)
    .map((node) => ({
      id: node.id,
      cpusTotal: node.cpusTotal,
      gpusTotal: node.gpusTotal,
      cpusUsed: Math.max(0, node.cpusTotal - node.cpusAvailable),
      gpusUsed: Math.max(0, node.gpusTotal - node.gpusAvailable),
      ...(node.draining && { draining: node.draining }),
      ...(node.uses && { uses: node.uses }),
      ...(node.labels && Object.keys(node.labels).length > 0 && { labels: node.labels }),
      ...(node.health && { health: node.health }),
    }));
}

/** How long a node that is away may still come back. */
const AWAY_MS = 3_600_000;
const MAX_AWAY = 64;

/** The nodes that were there before and are away, the newest first. Times are the server's. */
function awayNodes(
  { nodes, away = [], lastSeenAt }: Cluster,
  { nodes: now }: RayWorkerDescription,
): AwayNode[] {
  const alive = new Set(now.filter((node) => node.alive).map(({ id }) => id));
  const at = lastSeenAt ?? 0;
  const gone = nodes.map(({ id, gpusTotal, cpusTotal, labels }) => {
    return { id, gpusTotal, cpusTotal, since: at, ...(labels && { labels }) };
  });
  return [...gone, ...away]
    .filter(({ id, since }) => !alive.has(id) && at - since < AWAY_MS)
    .slice(0, MAX_AWAY);
}

/** The part of a description that the store retains. It is valid while the cluster has that address. */
export function toSeen(address: string, description: RayWorkerDescription): Seen {
  return {
    address,
    generation: description.generation,
    nodes: toClusterNodes(description),
    rayVersion: description.rayVersion,
    rayWorkerVersion: description.version,
    specVersions: description.specVersions,
    sharedRoot: description.sharedRoot,
  };
}

/** The refresh of clusters, and what it knows of their ray-workers. */
interface ClusterRefresh extends Loop {
  /** The clusters that this dispatcher has not reached for a while, although another dispatcher reaches them. */
  cutOff(): ReadonlySet<string>;
}

/** A cluster whose ray-worker does not answer this dispatcher. */
interface Silent {
  since: number;
  /** The last answer to any dispatcher at that time (ms since 1970). */
  lastSeenAt: number | null;
  /** Whether another dispatcher has reached it since. */
  answersOthers: boolean;
}

/** Many attempts that end together cause one refresh. Ray needs about this time to release their resources. */
const REST_MS = 100;
/** A silent ray-worker delays the refresh of other clusters by no more than this. */
const ANSWER_MS = 5_000;
/** Ray restarts an actor within seconds. After a longer silence, Ray itself may have been restarted. */
const REPAIR_MS = 30_000;
const MAX_REPAIR_MS = 15 * 60_000;
/** How long this dispatcher does not reach a cluster that others reach, before it leaves the attempts there to them. */
const CUT_OFF_MS = 30_000;

/**
 * Periodically reads every cluster's nodes from its ray-worker, writes them to the store, and calls `onRefresh`. The
 * record of a cluster whose ray-worker does not answer keeps its last figures and their time.
 *
 * A dispatcher may be cut off from one ray-worker only. If no dispatcher reaches it, nothing follows from that.
 */
export function createClusterRefresh(deps: {
  store: Store;
  rayWorkers: RayWorkers;
  everyMs: number;
  /** Milliseconds since any moment, by a clock that cannot be set. */
  elapsed: () => number;
  log: Log;
  /** Default: nodes are only cordoned by operators. */
  cordon?: CordonRule | undefined;
  onRefresh: (cluster: Cluster, nodes: readonly ClusterNode[]) => void;
  /**
   * Called if a ray-worker has answered no dispatcher for longer than a restart takes; called again after increasing waits.
   */
  onSilent?: (cluster: Cluster) => Promise<void>;
  /** Default: {@link CUT_OFF_MS}. */
  cutOffMs?: number | undefined;
  /** Time between two searches for attempts that the store does not know. Default: 30 s. */
  checkMs?: number | undefined;
}): ClusterRefresh {
  const { store, rayWorkers, log } = deps;
  const unknown = createUnknownAttempts(deps);
  const silences = createSilences(deps);
  const repairs = createRepairs(deps);
  const autoscale = createAutoscale(deps);

  async function refresh(cluster: Cluster): Promise<void> {
    try {
      const client = await rayWorkers.of(cluster.name);
      const description = await client.describe(AbortSignal.timeout(ANSWER_MS));
      const answersAgain = silences.end(cluster);
      if (answersAgain) log.info({ cluster: cluster.name }, 'the ray-worker answers again');
      const isOther = cluster.generation !== null && cluster.generation !== description.generation;
      if (isOther)
        log.warn(
          { cluster: cluster.name, generation: description.generation },
          'the ray-worker has a new state directory; the attempts of the old one are lost',
        );
      const unknownAttempts = await unknown.on(cluster.name, client, { recheck: answersAgain || isOther });
      const away = awayNodes(cluster, description);
      await cordonBroken(deps, cluster, toClusterNodes(description));
      await store.clusters.see(cluster.name, {
        ...toSeen(cluster.address, description),
        ...(away.length > 0 && { away }),
        ...(unknownAttempts.length > 0 && { unknownAttempts }),
      });
      repairs.end(cluster);
      await autoscale(cluster, client);
      deps.onRefresh(cluster, toClusterNodes(description));
    } catch (error) {
      const { isNew, answersOthers } = silences.note(cluster);
      if (!answersOthers) await repairs.request(cluster);
      if (isNew) log.warn({ cluster: cluster.name, err: error }, 'the ray-worker does not answer');
    }
  }

  const loop = createLoop({
    name: 'cluster refresh',
    restMs: REST_MS,
    everyMs: deps.everyMs,
    log,
    async run() {
      const clusters = (await store.clusters.list()).filter(({ address }) => address !== '');
      rayWorkers.update(clusters);
      silences.forgetOthers(clusters);
      await Promise.all(clusters.map(refresh));
    },
  });
  return { ...loop, cutOff: silences.cutOff };
}

/** Tells a ray-worker what to ask its autoscaler for, if it has one, and logs the first failure. Never rejects. */
function createAutoscale({ log }: { log: Log }) {
  const failing = new Set<string>();
  return async ({ name: cluster, asked, slurm }: Cluster, client: RayWorkerClient): Promise<void> => {
    if (asked === undefined || slurm !== undefined) return;
    try {
      await client.autoscale(asked.bundles, AbortSignal.timeout(ANSWER_MS));
      failing.delete(cluster);
    } catch (err) {
      if (!failing.has(cluster)) log.warn({ cluster, err }, "cannot ask the cluster's autoscaler for nodes");
      failing.add(cluster);
    }
  };
}

/** Records silences of clusters, and requests repairs: the first after {@link REPAIR_MS}, each further one after twice the wait. */
function createRepairs({
  store,
  elapsed,
  log,
  onSilent,
}: Pick<Parameters<typeof createClusterRefresh>[0], 'store' | 'elapsed' | 'log' | 'onSilent'>) {
  const repairs = new Map<string, { at: number; waitMs: number }>();
  const noteSilent = (cluster: string) =>
    store.clusters.noteSilent(cluster).catch((err: unknown) => {
      log.warn({ cluster, err }, 'cannot record that a ray-worker is silent');
    });
  return {
    async request(cluster: Cluster): Promise<void> {
      if (cluster.answering === false) await noteSilent(cluster.name);
      const now = elapsed();
      const next = repairs.get(cluster.name) ?? { at: now + REPAIR_MS, waitMs: REPAIR_MS };
      repairs.set(cluster.name, next);
      if (now < next.at || !onSilent) return;
      const waitMs = Math.min(next.waitMs * 2, MAX_REPAIR_MS);
      repairs.set(cluster.name, { at: now + waitMs, waitMs });
      await onSilent(cluster).catch((error: unknown) => {
        log.warn({ cluster: cluster.name, err: error }, 'cannot request the repair of a cluster');
      });
    },
    end: ({ name }: Cluster) => void repairs.delete(name),
  };
}

/** The clusters whose ray-workers do not answer this dispatcher. */
function createSilences({
  elapsed,
  cutOffMs = CUT_OFF_MS,
}: {
  elapsed: () => number;
  cutOffMs?: number | undefined;
}) {
  const silent = new Map<string, Silent>();
  const isCutOff = ({ since, answersOthers }: Silent) => answersOthers && elapsed() - since >= cutOffMs;
  return {
    note({ name, lastSeenAt, answering = false }: Cluster): { isNew: boolean; answersOthers: boolean } {
      const before = silent.get(name);
      const first = before ?? { since: elapsed(), lastSeenAt };
      const answersOthers = answering && lastSeenAt !== first.lastSeenAt;
      silent.set(name, { ...first, answersOthers });
      return { isNew: before === undefined, answersOthers };
    },
    /** Forgets clusters that were removed. */
    forgetOthers(clusters: readonly Cluster[]): void {
      const names = new Set(clusters.map(({ name }) => name));
      for (const name of silent.keys()) if (!names.has(name)) silent.delete(name);
    },
    /** True: it did not answer before. */
    end: ({ name }: Cluster) => silent.delete(name),
    cutOff: () => new Set([...silent].flatMap(([name, one]) => (isCutOff(one) ? [name] : []))),
  };
}
