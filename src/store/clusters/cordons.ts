import { EchelonError } from '../../core/errors.ts';
import type { Cordon } from '../../core/node-states.ts';
import { storeTime } from '../clock/clock.ts';
import type { StoreContext } from '../context.ts';
import { runAll } from '../redis/errors.ts';
import { createRevisions } from '../redis/revisions.ts';
import type { createClusters } from './clusters.ts';
import type { Cluster, NodeFault } from './types.ts';

type Cordons = Readonly<Record<string, Cordon>>;

/** Changes of the cordons of one cluster at the same time. */
const MAX_TRIES = 5;

/** The cordons of nodes, and the faults that lead to them. */
export function createCordons(
  context: StoreContext,
  clusters: Pick<ReturnType<typeof createClusters>, 'list' | 'set'>,
) {
  const { redis, keys } = context;
  const revisions = createRevisions(context);
  return {
    /** The server's time, in ms since 1970. */
    now: () => storeTime(context),

    /**
     * Changes the cordons of a cluster. They are stored as a whole, so `edit` is called again if the cluster has changed since it
     * was read. `edit` may throw, or return the same object to change nothing. False: no such cluster.
     */
    async editCordons(name: string, edit: (before: Cordons, cluster: Cluster) => Cordons): Promise<boolean> {
      for (let tries = 1; ; tries += 1) {
        const revision = await revisions.get('cluster', name);
        const cluster = (await clusters.list([name]))[0];
        if (cluster === undefined) return false;
        const before = cluster.cordons ?? {};
        const after = edit(before, cluster);
        if (after === before) return true;
        try {
          return await clusters.set(
            name,
            { cordons: Object.keys(after).length > 0 ? after : null },
            revision,
          );
        } catch (error) {
          const isChanged = error instanceof EchelonError && error.code === 'precondition-failed';
          if (!isChanged || tries >= MAX_TRIES) throw error;
        }
      }
    },

    /** Records that a fault of the cluster ended an attempt on these nodes; answers with the faults of the last `withinMs`. */
    async noteFault(
      cluster: string,
      { attempt, nodes, withinMs }: { attempt: string; nodes: readonly string[]; withinMs: number },
    ): Promise<{ now: number; faults: NodeFault[] }> {
      const key = keys.faults(cluster);
      const now = await storeTime(context);
      const commands = redis.pipeline();
      for (const node of nodes) commands.zadd(key, now, `${node} ${1 / nodes.length} ${attempt}`);
      commands
        .zremrangebyscore(key, '-inf', `(${now - withinMs}`)
        .pexpire(key, withinMs)
        .zrange(key, '0', '-1', 'WITHSCORES');
      const found = (await runAll(commands)).at(-1) as string[];
      const faults = found.flatMap((member, at): NodeFault[] => {
        if (at % 2 === 1) return [];
        const [node = '', share] = member.split(' ');
        return [{ node, share: Number(share), at: Number(found[at + 1]) }];
      });
      return { now, faults };
    },
  };
}
