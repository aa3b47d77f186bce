import type { MetricValue } from '../core/events.ts';
import type { StoreContext } from './context.ts';
import { guarded } from './redis-errors.ts';
import { condense, decodeBlock, decodeOpen, type Item } from './series-blocks.ts';
import type { SeriesStore } from './series-store.ts';

/** Points of the answer that one reading step is asked for: it bounds how long the server answers nobody else. */
const POINTS_PER_STEP = 4000;
/** Looks into finer levels for a point that reaches into what a later attempt stands for. */
const MOST_SPLITS = 12;
/** Fine enough to come down to points within a few looks. */
const FINER_RESOLUTION = 16;
const LAST_STEP = 2 ** 32 - 1;

/** Steps of an attempt that stand in the series. */
interface Stretch {
  attempt: number;
  from: number;
  to: number;
}

/** Reading the pyramid that `append.lua` writes (see `lua/include/series.lua`). */
export function createMetricSeries(context: StoreContext): SeriesStore {
  const { redis, keys, run } = context;
  const ofExperiment = (id: string) => `${keys.experiment(id)}:series`;

  async function readStretch(
    id: string,
    numbers: readonly string[],
    { attempt, from, to }: Stretch,
    resolution: number,
  ): Promise<Item[][]> {
    const [open, ...metrics] = (await run.bytes('read-series', [
      id,
      attempt,
      from,
      to,
      resolution,
      ...numbers,
    ])) as [Buffer, ...[number, ...Buffer[]][]];
    const newest = decodeOpen(open);
    return metrics.map(([level, ...blocks], index) => [
      ...blocks.flatMap((block) => decodeBlock(block, level === 0)),
      ...(newest.get(Number(numbers[index])) ?? []),
    ]);
  }

  /** The items of a stretch, none of which reaches beyond `to`: a later attempt stands for what comes there. */
  async function itemsOf(
    id: string,
    number: string,
    stretch: Stretch,
    { items, resolution, cut }: { items: readonly Item[]; resolution: number; cut: number },
  ): Promise<Item[]> {
    let inside = items.filter((item) => item.from <= stretch.to && item.to >= stretch.from);
    for (let splits = 0; splits < MOST_SPLITS; splits++) {
      const straddling = inside.findIndex((item) => item.to > cut && item.count > 1);
      if (straddling === -1) return inside.filter(({ from }) => from <= cut);
      const { from } = inside[straddling]!;
      const finer = { attempt: stretch.attempt, from, to: cut };
      const [found] = await readStretch(id, [number], finer, Math.max(resolution, FINER_RESOLUTION));
      inside = [
        ...inside.slice(0, straddling),
        ...(found ?? []).filter((item) => item.from >= from && item.from <= cut),
      ];
    }
    return inside;
  }

  return {
    async metricNames(id) {
      const values = await guarded(redis.hgetall(keys.metrics(id)));
      return Object.entries(values)
        .map(([name, value]) => ({ name, last: JSON.parse(value) as MetricValue }))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    },

    async metricSeries(id, { names, from = 0, to = LAST_STEP, resolution }) {
      if (names.length === 0) return [];
      const [numbers, attempts] = await Promise.all([
        guarded(redis.hmget(keys.metricNumbers(id), ...names)),
        guarded(redis.hget(ofExperiment(id), 'attempts')),
      ]);
      const stretches = stretchesOf(attempts ?? '');
      const all = names.map((): { attempt: number; item: Item }[] => []);
      const known = numbers.flatMap((number, index) => (number === null ? [] : [{ number, index }]));
      const atOnce = Math.max(1, Math.floor(POINTS_PER_STEP / resolution));
      for (const whole of stretches) {
        const stretch = { ...whole, from, to: Math.min(to, whole.to) };
        if (stretch.to < from || whole.from > to) continue;
        for (let at = 0; at < known.length; at += atOnce) {
          const some = known.slice(at, at + atOnce);
          const read = await readStretch(
            id,
            some.map(({ number }) => number),
            stretch,
            resolution,
          );
          for (const [place, { number, index }] of some.entries()) {
            const items = await itemsOf(id, number, stretch, {
              items: read[place] ?? [],
              resolution,
              cut: whole.to,
            });
            for (const item of items) all[index]!.push({ attempt: whole.attempt, item });
          }
        }
      }
      return all.map((items) => condense(items, resolution));
    },
  };
}

/** From the first step that a later attempt reports on, the values of the earlier ones do not stand. */
export function stretchesOf(attempts: string): Stretch[] {
  const stretches: Stretch[] = [];
  for (const text of attempts.split(' ').filter(Boolean)) {
    const [attempt, from] = text.split(':').map(Number) as [number, number];
    for (const earlier of stretches) earlier.to = Math.min(earlier.to, from - 1);
    stretches.push({ attempt, from, to: LAST_STEP });
  }
  return stretches.filter(({ to }) => to >= 0);
}
