import type { Artifact } from '../schemas/records.ts';
import type { StoreContext } from './context.ts';
import { type Fields, toBatch } from './record.ts';
import type { RecordsStore } from './records-store.ts';
import { guarded, runAll } from './redis-errors.ts';
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
      const fields = (await guarded(redis.hkeys(keys.batches(id))))
        .map((field) => ({ field, place: placeOf(field) }))
        .filter(({ place }) => after === undefined || isBehind(place, after))
        .sort((left, right) => (isBehind(left.place, right.place) ? 1 : -1))
        .map(({ field }) => field);
      const page = fields.slice(0, limit);
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
      return { items, more: fields.length > limit };
    },
  };
}

interface Place {
  attempt: number;
  batch: number;
}

function placeOf(field: string): Place {
  const [attempt = 0, batch = 0] = field.split(':').map(Number);
  return { attempt, batch };
}

function isBehind(place: Place, other: Place): boolean {
  return place.attempt > other.attempt || (place.attempt === other.attempt && place.batch > other.batch);
}

/** Of an experiment that ran before artifacts were recorded, the last checkpoint is known, and about when it was made. */
function older([checkpoint, endedAt, startedAt]: (string | null)[]): Artifact[] {
  if (!checkpoint) return [];
  const { step, path, attempt } = JSON.parse(checkpoint) as Fields & { step: number; attempt: number };
  return [{ kind: 'checkpoint', step, path: path ?? '', attempt, at: Number(endedAt ?? startedAt ?? 0) }];
}
