import type { RayWorkerDescription } from '../../rpc/ray-worker.ts';
import type { Cluster, ClusterNode, Seen } from '../../store/clusters/contract.ts';
import type { Store } from '../../store/store.ts';
import type { Log } from '../log.ts';
import { createLoop, type Loop } from '../loop.ts';
import type { RayWorkers } from './ray-workers.ts';

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
    }));
}

/** The part of a description that the store retains. It is valid while the cluster has that address. */
export function toSeen(address: string, description: RayWorkerDescription): Seen {
  return {
    address,
    generation: description.generation,
    nodes: toClusterNodes(description),
    rayVersion: description.rayVersion,
    rayWorkerVersion: description.version,
    sharedRoot: description.sharedRoot,
  };
}

/** Many attempts that end together cause one refresh. Ray needs about this time to release their resources. */
const REST_MS = 100;
/** A silent ray-worker delays the refresh of other clusters by no more than this. */
const ANSWER_MS = 5_000;
/** Ray restarts an actor within seconds. After a longer silence, Ray itself may have been restarted. */
const REPAIR_MS = 30_000;
const MAX_REPAIR_MS = 15 * 60_000;

/**
 * Periodically reads every cluster's nodes from its ray-worker, writes them to the store, and calls `onRefresh`. The
 * record of a cluster whose ray-worker does not answer keeps its last figures and their time.
 */
export function createClusterRefresh(deps: {
  store: Store;
  rayWorkers: RayWorkers;
  everyMs: number;
  /** Milliseconds since any moment, by a clock that cannot be set. */
  elapsed: () => number;
  log: Log;
  onRefresh: () => void;
  /** Called if a ray-worker has been silent for longer than a restart takes; called again after increasing waits. */
  onSilent?: (cluster: Cluster) => Promise<void>;
}): Loop {
  const { store, rayWorkers, log } = deps;
  const silent = new Set<string>();
  const repairs = new Map<string, { at: number; waitMs: number }>();

  /** The first repair follows {@link REPAIR_MS} of silence; each further repair waits twice as long. */
  async function repair(cluster: Cluster): Promise<void> {
    const now = deps.elapsed();
    const next = repairs.get(cluster.name) ?? { at: now + REPAIR_MS, waitMs: REPAIR_MS };
    repairs.set(cluster.name, next);
    if (now < next.at || !deps.onSilent) return;
    const waitMs = Math.min(next.waitMs * 2, MAX_REPAIR_MS);
    repairs.set(cluster.name, { at: now + waitMs, waitMs });
    await deps.onSilent(cluster).catch((error: unknown) => {
      log.warn({ cluster: cluster.name, err: error }, 'cannot request the repair of a cluster');
    });
  }

  async function refresh(cluster: Cluster): Promise<void> {
    try {
      const client = await rayWorkers.of(cluster.name);
      const description = await client.describe(AbortSignal.timeout(ANSWER_MS));
      if (silent.delete(cluster.name)) log.info({ cluster: cluster.name }, 'the ray-worker answers again');
      if (cluster.generation !== null && cluster.generation !== description.generation)
        log.warn(
          { cluster: cluster.name, generation: description.generation },
          'the ray-worker has a new state directory; the attempts of the old one are lost',
        );
      await store.clusters.see(cluster.name, toSeen(cluster.address, description));
      repairs.delete(cluster.name);
      deps.onRefresh();
    } catch (error) {
      await repair(cluster);
      if (silent.has(cluster.name)) return;
      silent.add(cluster.name);
      log.warn({ cluster: cluster.name, err: error }, 'the ray-worker does not answer');
    }
  }

  return createLoop({
    name: 'cluster refresh',
    restMs: REST_MS,
    everyMs: deps.everyMs,
    log,
    async run() {
      const clusters = await store.clusters.list();
      rayWorkers.update(clusters);
      await Promise.all(clusters.map(refresh));
    },
  });
}
