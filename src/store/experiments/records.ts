import type { Artifact } from '../../schemas/records.ts';
import type { StoreContext } from '../redis/context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import { type Fields, toBatch } from './record.ts';
import type { RecordsStore } from './records-contract.ts';
import { unlessChanged } from './versions.ts';

/** Deletion, artifacts and pages of batches: what is asked of records besides their lives in the line. */
export function createRecords(
  context: StoreContext,
): Pick<RecordsStore, 'deleteExperiment' | 'artifacts' | 'batchPage'> {
  const { redis, keys, run } = context;
  return {
    async deleteExperiment(id, version = '') {
      const answer = await unlessChanged(run('delete-experiment', [id, version]));
      return answer as 'deleted' | 'not-ended' | 'not-found';
    },

    async artifacts(id, from, limit) {
      if (limit <= 0) return { items: [], more: false };
      const [found, record] = (await runAll(
        redis
          .pipeline()
          .lrange(`${keys.experiment(id)}:artifacts`, from, from + limit)
          .hmget(keys.experiment(id), 'checkpoint', 'endedAt', 'startedAt'),
      )) as [string[], (string | null)[]];
      if (found.length === 0 && from === 0) return { items: older(record), more: false };
      const items = found.slice(0, limit).map((text) => JSON.parse(text) as Artifact);
      return { items, more: found.length > limit };
    },

    async batchPage(id, { after, limit }) {
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
const MOST_BATCHES = 2 ** 32;
/** Fields of a hash that one reading step looks at: of a long run there are many, and others wait. */
const FIELDS_PER_READ = 1_000;

/** A batch's place among all of its experiment. */
function numberOf({ attempt, batch }: { attempt: number; batch: number }): number {
  return attempt * MOST_BATCHES + batch;
}

function fieldOf(place: number): string {
  return `${Math.floor(place / MOST_BATCHES)}:${place % MOST_BATCHES}`;
}

/** The places of all batches in the hash, in no order. */
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

/** Of an experiment that ran before artifacts were recorded, the last checkpoint is known, and about when it was made. */
function older([checkpoint, endedAt, startedAt]: (string | null)[]): Artifact[] {
  if (!checkpoint) return [];
  const { step, path, attempt } = JSON.parse(checkpoint) as Fields & { step: number; attempt: number };
  return [{ kind: 'checkpoint', step, path: path ?? '', attempt, at: Number(endedAt ?? startedAt ?? 0) }];
}
