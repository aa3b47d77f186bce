import type { StoreContext } from '../redis/context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import type { QueuePage } from './contract.ts';
import { readQueued } from './positions.ts';

/** The queue in pages. */
export function createQueuePage(context: StoreContext) {
  const { redis, keys } = context;
  return {
    /**
     * A page of the queue, or of one project's part of it. Pages follow one another by priority and arrival, so an
     * experiment that stays queued at the same priority is on exactly one of them.
     */
    async page({
      limit,
      project,
      after = '-inf',
    }: {
      limit: number;
      project?: string;
      after?: string;
    }): Promise<QueuePage> {
      const queue = project === undefined ? keys.queue : `${keys.queue}:${project}`;
      const range = [`(${after}`, '+inf', 'WITHSCORES', 'LIMIT', 0, limit + 1] as const;
      const found = await guarded(redis.zrangebyscore(queue, ...range));
      const ids = found.filter((_, at) => at % 2 === 0).slice(0, limit);
      const [length, ...ranks] = await runAll(
        ids.reduce((all, id) => all.zrank(keys.queue, id), redis.pipeline().zcard(keys.queue)),
      );
      const rankOf = new Map(ids.map((id, at) => [id, Number(ranks[at] ?? 0) + 1]));
      const queued = (await readQueued(context, ids)).map((one) => ({
        ...one,
        position: one.rank ?? rankOf.get(one.experiment)!,
      }));
      return {
        length: Number(length),
        queued: queued.sort((a, b) => a.position - b.position),
        next: found.length > 2 * limit ? found[2 * limit - 1]! : null,
      };
    },
  };
}
