import type { StoreContext } from './context.ts';
import { guarded, runAll } from './redis-errors.ts';
import type { Cluster, Reservation, Store } from './store.ts';

/** Clusters, and what is reserved on them. */
export function createClusters(
  context: StoreContext,
): Pick<Store, 'putCluster' | 'clusters' | 'removeCluster' | 'reservations'> {
  const { redis, keys, run } = context;
  return {
    async putCluster(cluster) {
      await run('put-cluster', [cluster.name, JSON.stringify(cluster)]);
    },

    async clusters() {
      const all = Object.values(await guarded(redis.hgetall(keys.clusters)));
      return all
        .map((text) => JSON.parse(text) as Cluster)
        .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    },

    async removeCluster(name) {
      await run('remove-cluster', [name]);
    },

    async reservations(cluster) {
      // The version is read first: a claim in between makes it too old, and what is decided on it is refused.
      const [version, items] = (await runAll(
        redis.pipeline().hget(keys.versions, cluster).hgetall(keys.reserved(cluster)),
      )) as [string | null, Record<string, string>];
      return {
        version: Number(version ?? 0),
        items: Object.entries(items).map(([experiment, text]) => ({
          experiment,
          ...(JSON.parse(text) as Omit<Reservation, 'experiment'>),
        })),
      };
    },
  };
}
