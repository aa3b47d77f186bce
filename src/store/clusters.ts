import type { StoreContext } from './context.ts';
import { runAll } from './redis-errors.ts';
import type { Cluster, Reservation, Seen, Store } from './store.ts';

/** Clusters, and what is reserved on them. */
export function createClusters(
  context: StoreContext,
): Pick<Store, 'putCluster' | 'seeCluster' | 'clusters' | 'setDraining' | 'removeCluster' | 'reservations'> {
  const { redis, keys, run } = context;
  return {
    async putCluster({ draining: _setByItself, ...cluster }) {
      await run('put-cluster', [cluster.name, JSON.stringify(cluster)]);
    },

    async seeCluster(name, seen) {
      await run('see-cluster', [name, JSON.stringify(seen)]);
    },

    async clusters() {
      const [all, seen, draining] = (await runAll(
        redis.pipeline().hgetall(keys.clusters).hgetall(keys.seen).smembers(keys.draining),
      )) as [Record<string, string>, Record<string, string>, string[]];
      return Object.values(all)
        .map((text) => merge(JSON.parse(text) as Cluster, seen, draining))
        .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    },

    async setDraining(name, draining) {
      return (await run('set-draining', [name, draining ? 1 : 0])) === 1;
    },

    async removeCluster(name) {
      const answer = await run('remove-cluster', [name]);
      return answer === 1 ? 'removed' : answer === 0 ? 'absent' : 'busy';
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

/** The record with what was last seen of it, unless that was said at another address. */
function merge(cluster: Cluster, allSeen: Record<string, string>, draining: string[]): Cluster {
  const text = allSeen[cluster.name];
  const seen = text === undefined ? undefined : (JSON.parse(text) as Seen);
  return {
    ...cluster,
    ...(seen?.address === cluster.address ? seen : {}),
    ...(draining.includes(cluster.name) ? { draining: true } : {}),
  };
}
