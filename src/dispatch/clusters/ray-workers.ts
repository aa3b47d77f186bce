import { createRayWorkerClient } from '../../rpc/client.ts';
import type { RayWorkerClient } from '../../rpc/ray-worker.ts';
import { RayWorkerError } from '../../rpc/status.ts';
import type { Cluster } from '../../store/clusters/types.ts';
import type { Store } from '../../store/store.ts';

/** One client for each known ray-worker, used while the cluster's address and secrets stay the same. */
export interface RayWorkers {
  /** The present client of a cluster's ray-worker; throws RayWorkerError `unreachable` for an unknown cluster. */
  of(cluster: string): Promise<RayWorkerClient>;
  /** Takes the present clusters, and closes clients of removed or changed ones. */
  update(clusters: readonly Cluster[]): void;
  close(): void;
}

/** Makes the client of a cluster. */
export type Connect = (cluster: Cluster & Owned) => RayWorkerClient;

/** See `owner` and `release` of the client of a ray-worker. */
interface Owned {
  owner?: string;
  release?: boolean;
}

/** How a ray-worker knows its owner: two clusters, or two installations, would allocate its GPUs twice. */
export function ownedBy(installation: string | undefined, cluster: string): Owned {
  return installation === undefined ? {} : { owner: `${installation}/${cluster}` };
}

interface Known {
  address: string;
  token: string;
  ca: string | null;
  client: RayWorkerClient;
}

/** Clients for the clusters in `store`. */
export function createRayWorkers({
  store,
  connect = createRayWorkerClient,
  installation,
}: {
  store: Pick<Store, 'clusters'>;
  connect?: Connect | undefined;
  installation?: string | undefined;
}): RayWorkers {
  const known = new Map<string, Known>();
  let closed = false;

  function update(clusters: readonly Cluster[]): void {
    if (closed) return;
    for (const cluster of clusters) {
      const { name, address, token, ca } = cluster;
      const before = known.get(name);
      if (before && before.address === address && before.token === token && before.ca === ca) continue;
      before?.client.close();
      known.set(name, {
        address,
        token,
        ca,
        client: connect({ ...cluster, ...ownedBy(installation, name) }),
      });
    }
    const names = new Set(clusters.map((cluster) => cluster.name));
    for (const [name, { client }] of known)
      if (!names.has(name)) {
        client.close();
        known.delete(name);
      }
  }

  return {
    update,
    async of(cluster) {
      const before = known.get(cluster);
      if (before) return before.client;
      update((await store.clusters.list()).filter(({ address }) => address !== ''));
      const now = known.get(cluster);
      if (!now) throw new RayWorkerError('unreachable', `no ray-worker of cluster ${cluster} is known`);
      return now.client;
    },
    close() {
      closed = true;
      for (const { client } of known.values()) client.close();
      known.clear();
    },
  };
}
