import type { MetricValue } from '../../core/events.ts';
import { createSeriesReader, type SeriesFields } from '../archive/series-archive.ts';
import type { StoreContext } from '../redis/context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import type { SeriesPoint, SeriesStore } from './contract.ts';
import { condense, decodeBlock, decodeOpen, type Item } from './series-blocks.ts';
import { readPyramid } from './series-pyramid.ts';

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

/** Reads some metrics of a stretch: the newest events, and for each metric a level with its blocks. */
type ReadBlocks = (
  numbers: readonly string[],
  stretch: Stretch,
  resolution: number,
) => Promise<[Buffer, ...[number, ...Buffer[]][]]>;

/** Reads the pyramid that `append.lua` writes (see `redis/lua/series.lua`), in the store or in the archive. */
export function createMetricSeries(context: StoreContext): SeriesStore {
  const { redis, keys } = context;
  const archived = createSeriesReader(context.archive);
  const seriesOf = (id: string) => `${keys.experiment(id)}:series`;

  async function read(id: string, query: ChartQuery): Promise<SeriesPoint[][]> {
    const [numbers, attempts, digest] = (await runAll(
      redis
        .pipeline()
        .hmget(keys.metricNumbers(id), ...query.names)
        .hget(seriesOf(id), 'attempts')
        .hget(keys.experiment(id), 'seriesDigest'),
    )) as [(string | null)[], string | null, string | null];
    if (digest === null) {
      return await chartOf(fromStore(context, id), { ...query, numbers, attempts: attempts ?? '' });
    }
    const fields = await archived(id, digest);
    const recorded = fields.get('attempts')?.toString() ?? '';
    return await chartOf(fromArchive(fields), { ...query, numbers, attempts: recorded });
  }

  return {
    async names(id) {
      const values = await guarded(redis.hgetall(keys.metrics(id)));
      return Object.entries(values)
        .map(([name, value]) => ({ name, last: JSON.parse(value) as MetricValue }))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    },

    async series(id, { names, from = 0, to = LAST_STEP, resolution }) {
      if (names.length === 0) return [];
      const query = { names, from, to, resolution };
      const isThere = (await guarded(redis.exists(seriesOf(id)))) === 1;
      const points = await read(id, query);
      // The series was archived during the read.
      const isGone = isThere && (await guarded(redis.exists(seriesOf(id)))) === 0;
      return isGone ? await read(id, query) : points;
    },
  };
}

function fromStore({ run }: StoreContext, id: string): ReadBlocks {
  return async (numbers, { attempt, from, to }, resolution) =>
    (await run.bytes('read-series', [id, attempt, from, to, resolution, ...numbers])) as Awaited<
      ReturnType<ReadBlocks>
    >;
}

function fromArchive(fields: SeriesFields): ReadBlocks {
  const none = Buffer.alloc(0);
  const openOf = Number.parseInt(fields.get('open')?.toString() ?? '', 10);
  return async (numbers, { attempt, from, to }, resolution) => [
    openOf === attempt ? (fields.get('') ?? none) : none,
    ...numbers.map((metric) => readPyramid(fields, { attempt, metric, from, to, resolution })),
  ];
}

interface ChartQuery {
  names: readonly string[];
  from: number;
  to: number;
  resolution: number;
}

async function chartOf(
  readBlocks: ReadBlocks,
  query: ChartQuery & { numbers: readonly (string | null)[]; attempts: string },
): Promise<SeriesPoint[][]> {
  const { names, numbers, from, to, resolution } = query;
  const all = names.map((): { attempt: number; item: Item }[] => []);
  const known = numbers.flatMap((number, index) => (number === null ? [] : [{ number, index }]));
  const atOnce = Math.max(1, Math.floor(POINTS_PER_STEP / resolution));
  for (const whole of stretchesOf(query.attempts)) {
    const stretch = { ...whole, from, to: Math.min(to, whole.to) };
    if (stretch.to < from || whole.from > to) continue;
    for (let at = 0; at < known.length; at += atOnce) {
      const some = known.slice(at, at + atOnce);
      const read = await readItems(
        readBlocks,
        some.map(({ number }) => number),
        { stretch, resolution },
      );
      for (const [place, { number, index }] of some.entries()) {
        const items = await within(readBlocks, number, {
          ...{ stretch, resolution, cut: whole.to },
          items: read[place] ?? [],
        });
        for (const item of items) all[index]!.push({ attempt: whole.attempt, item });
      }
    }
  }
  return all.map((items) => condense(items, resolution));
}

async function readItems(
  readBlocks: ReadBlocks,
  numbers: readonly string[],
  { stretch, resolution }: { stretch: Stretch; resolution: number },
): Promise<Item[][]> {
  const [open, ...metrics] = await readBlocks(numbers, stretch, resolution);
  const newest = decodeOpen(open);
  return metrics.map(([level, ...blocks], index) => [
    ...blocks.flatMap((block) => decodeBlock(block, level === 0)),
    ...(newest.get(Number(numbers[index])) ?? []),
  ]);
}

/** The items of a stretch up to the step `cut`; later steps belong to a later attempt. */
async function within(
  readBlocks: ReadBlocks,
  number: string,
  input: { stretch: Stretch; items: readonly Item[]; resolution: number; cut: number },
): Promise<Item[]> {
  const { stretch, cut, resolution } = input;
  let inside = input.items.filter((item) => item.from <= stretch.to && item.to >= stretch.from);
  for (let splits = 0; splits < MAX_SPLITS; splits++) {
    const straddling = inside.findIndex((item) => item.to > cut && item.count > 1);
    if (straddling === -1) return inside.filter(({ from }) => from <= cut);
    const { from } = inside[straddling]!;
    const [found] = await readItems(readBlocks, [number], {
      stretch: { attempt: stretch.attempt, from, to: cut },
      resolution: Math.max(resolution, FINER_RESOLUTION),
    });
    const finer = (found ?? []).filter((item) => item.from >= from && item.from <= cut);
    inside = [...inside.slice(0, straddling), ...finer];
  }
  return inside;
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
