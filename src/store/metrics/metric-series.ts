import { EchelonError } from '../../core/errors.ts';
import type { MetricValue } from '../../core/events.ts';
import { createSeriesReader, type SeriesFields } from '../archive/series-archive.ts';
import type { StoreContext } from '../context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import { decodeRows } from './series-blocks.ts';
import { condense, type Item, type SeriesPoint, timed } from './series-items.ts';
import { extend, type Head, headField, itemsOf, openBlocks, partsOf, readHead } from './series-pyramid.ts';

/** MAX points of one read, which bounds how long it blocks the server. */
const POINTS_PER_STEP = 4000;
/** MAX reads of finer levels to split an aggregate that overlaps a later attempt. */
const MAX_SPLITS = 12;
/** Fine enough to reach points within a few reads. */
const FINER_RESOLUTION = 16;
const LAST_STEP = 2 ** 32 - 1;

/** The steps of the series that come from one attempt. */
interface Stretch {
  attempt: number;
  from: number;
  to: number;
}

/** A series at one moment; the blocks that its heads count do not change. */
interface Snapshot {
  attempts: string;
  /** Numbers of the metrics, and last of the time; empty if one has no values. */
  numbers: readonly string[];
  /** By `<attempt>:<number>`. */
  heads: ReadonlyMap<string, Head>;
  /** Points that are not compacted, by the same. */
  newest: ReadonlyMap<string, readonly Item[]>;
  blocks(fields: readonly string[]): Promise<readonly (Buffer | null | undefined)[]>;
}

interface ChartQuery {
  from: number;
  to: number;
  resolution: number;
}

/** A block is not there (any more): the series was archived or deleted during the read. */
class MissingBlock extends EchelonError {
  constructor() {
    super('internal', 'A block of a metric series is missing. Repeat the request.');
  }
}

/** Reads the series of metrics, in the store or in the archive. */
export function createMetricSeries(context: StoreContext) {
  const { redis, keys } = context;
  const archived = createSeriesReader(context.archive);

  return {
    /** Every metric with the value that was recorded last, by name; empty if nothing was recorded. */
    async names(id: string): Promise<{ name: string; last: MetricValue }[]> {
      const values = await guarded(redis.hgetall(keys.metrics(id)));
      return Object.entries(values)
        .map(([name, value]) => ({ name, last: JSON.parse(value) as MetricValue }))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    },

    /**
     * The series of these metrics between two steps, each with at most `resolution` points: recorded points if they are few
     * enough, otherwise aggregates. From the first step of a later attempt on, only its values count. The cost depends on
     * `resolution`, not on the number of steps. An unknown name has no points.
     */
    async series(
      id: string,
      {
        names,
        from = 0,
        to = LAST_STEP,
        resolution,
      }: { names: readonly string[]; from?: number; to?: number; resolution: number },
    ): Promise<SeriesPoint[][]> {
      if (names.length === 0) return [];
      const read = async () =>
        await chartOf(await snapshotOf(context, archived, { id, names }), { from, to, resolution });
      return await read().catch((error: unknown) => {
        if (error instanceof MissingBlock) return read();
        throw error;
      });
    },
  };
}

async function snapshotOf(
  { redis, keys, run }: StoreContext,
  archived: ReturnType<typeof createSeriesReader>,
  { id, names }: { id: string; names: readonly string[] },
): Promise<Snapshot> {
  const [digest, attempts, rows, numbers, heads] = (await run.bytes('read-series', [id, ...names])) as [
    Buffer,
    Buffer,
    Buffer,
    Buffer[],
    Buffer[],
  ];
  const known = numbers.map(String);
  if (digest.length > 0) return archivedSnapshot(await archived(id, digest.toString()), known);
  const fields = namesOf(attempts.toString(), known);
  return {
    attempts: attempts.toString(),
    numbers: known,
    heads: new Map(fields.map((name, at) => [name, readHead(heads[at])])),
    newest: decodeRows(rows).columns,
    blocks: (some) => guarded(redis.hmgetBuffer(`${keys.experiment(id)}:series`, ...some)),
  };
}

function archivedSnapshot(fields: SeriesFields, numbers: readonly string[]): Snapshot {
  const attempts = fields.get('attempts')?.toString() ?? '';
  const heads = namesOf(attempts, numbers).map(
    (name) => [name, readHead(fields.get(headField(name)))] as const,
  );
  return {
    attempts,
    numbers,
    heads: new Map(heads),
    newest: decodeRows(fields.get('') ?? Buffer.alloc(0)).columns,
    blocks: async (some) => some.map((field) => fields.get(field)),
  };
}

/** `<attempt>:<number>` of all attempts and metrics. */
function namesOf(attempts: string, numbers: readonly string[]): string[] {
  return stretchesOf(attempts).flatMap(({ attempt }) => numbers.map((number) => `${attempt}:${number}`));
}

async function chartOf(snapshot: Snapshot, { from, to, resolution }: ChartQuery): Promise<SeriesPoint[][]> {
  const all = snapshot.numbers.map((): { attempt: number; item: Item }[] => []);
  const known = snapshot.numbers.flatMap((number, index) => (number === '' ? [] : [{ number, index }]));
  const atOnce = Math.max(1, Math.floor(POINTS_PER_STEP / resolution));
  for (const whole of stretchesOf(snapshot.attempts)) {
    const range = { from, to: Math.min(to, whole.to), resolution };
    if (range.to < from || whole.from > to) continue;
    for (let at = 0; at < known.length; at += atOnce) {
      const some = known.slice(at, at + atOnce);
      const names = some.map(({ number }) => `${whole.attempt}:${number}`);
      const read = await readItems(snapshot, names, range);
      for (const [place, { index }] of some.entries()) {
        const input = { name: names[place]!, items: read[place]!, range, cut: whole.to };
        for (const item of await within(snapshot, input)) all[index]!.push({ attempt: whole.attempt, item });
      }
    }
  }
  const times = all.pop()!.map(({ item }) => item);
  return all.map((items) => timed(condense(items, resolution), times));
}

/** For each of these metrics its items around the range: compacted ones, then the newest. */
async function readItems(snapshot: Snapshot, names: readonly string[], range: ChartQuery): Promise<Item[][]> {
  const parts = names.map((name) => partsOf(name, snapshot.heads.get(name)!, range));
  const fields = parts.flat().map(({ field }) => field);
  const blocks = (fields.length === 0 ? [] : await snapshot.blocks(fields)).values();
  return parts.map((some, at) => {
    const items = some.flatMap((part) => {
      const block = blocks.next().value;
      if (!block) throw new MissingBlock();
      return itemsOf(part, block);
    });
    return items.concat(snapshot.newest.get(names[at]!) ?? []);
  });
}

/** The items of a range up to the step `cut`; later steps belong to a later attempt. */
async function within(
  snapshot: Snapshot,
  input: { name: string; items: readonly Item[]; range: ChartQuery; cut: number },
): Promise<Item[]> {
  const { range, cut } = input;
  let inside = input.items.filter((item) => item.from <= range.to && item.to >= range.from);
  for (let splits = 0; splits < MAX_SPLITS; splits++) {
    const straddling = inside.findIndex((item) => item.to > cut && item.count > 1);
    if (straddling === -1) break;
    const { from } = inside[straddling]!;
    const resolution = Math.max(range.resolution, FINER_RESOLUTION);
    const [found] = await readItems(snapshot, [input.name], { from, to: cut, resolution });
    const finer = found!.filter((item) => item.from >= from && item.from <= cut);
    inside = [...inside.slice(0, straddling), ...finer];
  }
  return inside.filter(({ from }) => from <= cut);
}

/** The stretches of all attempts: each ends before the first step of a later attempt. */
export function stretchesOf(attempts: string): Stretch[] {
  const stretches: Stretch[] = [];
  for (const text of attempts.split(' ').filter(Boolean)) {
    const [attempt, from] = text.split(':').map(Number) as [number, number];
    for (const earlier of stretches) earlier.to = Math.min(earlier.to, from - 1);
    stretches.push({ attempt, from, to: LAST_STEP });
  }
  return stretches.filter(({ to }) => to >= 0);
}

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
