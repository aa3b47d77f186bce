import type { StoreContext } from '../redis/context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import { decodeRows } from './series-blocks.ts';
import { extend, headField, openBlocks, readHead } from './series-pyramid.ts';

/** MAX bytes of rows in one step, which bounds the blocks that one script writes. */
const ROWS_PER_STEP = 512 * 1024;
/** Fields in one read, which bounds how long it blocks the server. */
const FIELDS_PER_READ = 500;

/** Compaction of the newest values of metrics, which `append.lua` writes as rows, into blocks. */
export function createCompaction(context: StoreContext) {
  const { redis, keys } = context;
  return {
    /** Experiments with many values that are not compacted; each is answered once, and again when more values come. */
    takeDue: (limit: number) => guarded(redis.spop(`${keys.root}:series-due`, limit)),

    /** Compacts the newest values, which changes no answer. May be interrupted and repeated. False: nothing was compacted. */
    async compact(id: string): Promise<boolean> {
      let steps = 0;
      while (await compactStep(context, id)) steps++;
      return steps > 0;
    },
  };
}

/** False: there are no rows, or another process has changed the series. */
async function compactStep({ redis, keys, run }: StoreContext, id: string): Promise<boolean> {
  const key = `${keys.experiment(id)}:series`;
  const [revision, rows] = (await runAll(
    redis
      .pipeline()
      .hget(key, 'revision')
      .getrangeBuffer(`${key}:rows`, 0, ROWS_PER_STEP - 1),
  )) as [string | null, Buffer];
  const { columns, bytes } = decodeRows(rows);
  if (bytes === 0) return false;
  const read = async (fields: readonly string[]) => {
    const found = new Map<string, Buffer>();
    for (let at = 0; at < fields.length; at += FIELDS_PER_READ) {
      const some = fields.slice(at, at + FIELDS_PER_READ);
      const values = await guarded(redis.hmgetBuffer(key, ...some));
      for (const [index, field] of some.entries()) if (values[index]) found.set(field, values[index]);
    }
    return found;
  };
  const names = [...columns.keys()];
  const stored = await read(names.map(headField));
  const heads = names.map((name) => readHead(stored.get(headField(name))));
  const open = await read(names.flatMap((name, at) => openBlocks(name, heads[at]!)));
  const fields = names.flatMap((name, at) => extend(name, heads[at]!, { points: columns.get(name)!, open }));
  return (await run('compact-series', [id, revision ?? '', bytes, ...fields.flat()])) === 'compacted';
}
