import { storeTime } from '../clock/clock.ts';
import { toAllocations } from '../clusters/clusters.ts';
import type { Allocation } from '../clusters/types.ts';
import type { StoreContext } from '../context.ts';
import { guarded, runAll } from '../redis/errors.ts';

const DAY_MS = 86_400_000;

/** Days for which usage is retained; redis/lua/usage.lua writes it. */
export const USAGE_DAYS = 400;

/** What the allocations of one group took in a period. */
export interface Usage {
  project: string;
  /** Name of the caller that submitted the experiments; empty: not recorded. */
  owner: string;
  cluster: string;
  /** Empty: not known, or no GPUs. */
  gpuType: string;
  gpuMs: number;
  cpuMs: number;
  /** Attempts that ended in the period. */
  attempts: number;
}

/** GPU and CPU time of allocations. */
export function createUsage(context: StoreContext) {
  const { redis, keys } = context;
  return {
    /** Usage of the days `from` to `to` (days since 1970, both included), with that of running attempts until now. */
    async read(from: number, to: number): Promise<Usage[]> {
      const groups = new Map<string, Usage>();
      const add = (group: string, amounts: Partial<Usage>) => {
        const [project = '', owner = '', cluster = '', gpuType = ''] = JSON.parse(group) as string[];
        const sum = groups.get(group) ?? {
          project,
          owner,
          cluster,
          gpuType,
          gpuMs: 0,
          cpuMs: 0,
          attempts: 0,
        };
        for (const kind of ['gpuMs', 'cpuMs', 'attempts'] as const) sum[kind] += amounts[kind] ?? 0;
        groups.set(group, sum);
      };
      // Running attempts first: one that ends meanwhile is counted twice rather than missed, until the next read.
      for (const { group, ms, gpus, cpus } of await running(context, from * DAY_MS, (to + 1) * DAY_MS))
        add(group, { gpuMs: gpus * ms, cpuMs: cpus * ms });
      const days = redis.pipeline();
      for (let day = from; day <= to; day++) days.hgetall(keys.usage(day));
      for (const fields of (await runAll(days)) as Record<string, string>[])
        for (const [field, value] of Object.entries(fields)) {
          const space = field.indexOf(' ');
          add(field.slice(space + 1), { [field.slice(0, space)]: Number(value) });
        }
      return [...groups.values()];
    },
  };
}

/** What each part of the present allocations took between two instants (ms since 1970). */
async function running(context: StoreContext, from: number, to: number) {
  const { redis, keys } = context;
  const [now, clusters] = await Promise.all([storeTime(context), guarded(redis.hkeys(keys.clusters))]);
  const looks = redis.pipeline();
  for (const cluster of clusters) looks.hgetall(keys.allocations(cluster));
  const found = clusters.length === 0 ? [] : ((await runAll(looks)) as Record<string, string>[]);
  const parts = found.flatMap((items, at) =>
    toAllocations(items).map((item: Allocation) => ({ ...item, cluster: clusters[at]! })),
  );
  const records = redis.pipeline();
  for (const { experiment } of parts) records.hmget(keys.experiment(experiment), 'owner', 'attempt');
  const owners = parts.length === 0 ? [] : ((await runAll(records)) as (string | null)[][]);
  const starts = redis.pipeline();
  for (const [at, { experiment }] of parts.entries())
    starts.hget(keys.attempts(experiment), `${owners[at]![1]}:claimedAt`);
  const since = parts.length === 0 ? [] : ((await runAll(starts)) as (string | null)[]);
  return parts.map(({ project, cluster, gpuType = '', gpus, cpus }, at) => {
    const ms = Math.max(0, Math.min(now, to) - Math.max(Number(since[at] ?? now), from));
    return { group: JSON.stringify([project, owners[at]![0] ?? '', cluster, gpuType]), ms, gpus, cpus };
  });
}
