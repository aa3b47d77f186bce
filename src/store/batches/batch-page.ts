import { toBatch } from '../experiments/record.ts';
import type { StoreContext } from '../redis/context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import type { BatchRecord } from './contract.ts';

/** Batches in pages: the hash of an experiment's batches may be large. */
export function createBatchPage(context: StoreContext) {
  const { redis, keys } = context;
  return {
    /** Batches with their reports in order, after `after`; `more`: further ones exist. */
    async page(
      id: string,
      { after, limit }: { after?: { attempt: number; batch: number }; limit: number },
    ): Promise<{ items: BatchRecord[]; more: boolean }> {
      if (limit <= 0) return { items: [], more: false };
      const from = after === undefined ? -1 : numberOf(after);
      const numbers = (await placesIn(context, keys.batches(id))).filter((number) => number > from).sort();
      const page = Array.from(numbers.subarray(0, limit), fieldOf);
      if (page.length === 0) return { items: [], more: false };
      const [rows, reports] = (await runAll(
        redis
          .pipeline()
          .hmget(keys.batches(id), ...page)
          .hmget(keys.reports(id), ...page),
      )) as (string | null)[][];
      const items = page.flatMap((field, at) => {
        const row = rows?.[at];
        return row ? [toBatch({ experiment: id, field }, row, reports?.[at])] : [];
      });
      return { items, more: numbers.length > limit };
    },
  };
}

/** Batches of one attempt are numbered below it. */
const MAX_BATCHES = 2 ** 32;
/** Fields that one step reads of a hash, which may be large. */
const FIELDS_PER_READ = 1_000;

/** A number that orders all batches of an experiment. */
function numberOf({ attempt, batch }: { attempt: number; batch: number }): number {
  return attempt * MAX_BATCHES + batch;
}

function fieldOf(place: number): string {
  return `${Math.floor(place / MAX_BATCHES)}:${place % MAX_BATCHES}`;
}

/** The order numbers of all batches in the hash, unsorted. */
async function placesIn({ redis }: StoreContext, key: string): Promise<Float64Array> {
  const places = new Set<number>();
  let cursor = '0';
  do {
    const [next, page] = await guarded(redis.hscan(key, cursor, 'COUNT', FIELDS_PER_READ));
    for (let at = 0; at < page.length; at += 2) {
      const [attempt, batch] = page[at]!.split(':').map(Number) as [number, number];
      places.add(numberOf({ attempt, batch }));
    }
    cursor = next;
  } while (cursor !== '0');
  return Float64Array.from(places);
}
