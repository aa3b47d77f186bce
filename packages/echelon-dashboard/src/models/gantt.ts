import { counted } from 'command-kit/plural';
import type { Answer } from 'echelon-client/calls';
import { clock, withNames } from './words.ts';

type Queue = Answer<'get', '/v1/queues'>;
type Queued = Queue['items'][number];
type Allocated = Answer<'get', '/v1/allocations'>['items'][number];
type Cluster = Queue['clusters'][number];

/** An experiment on a node over time. */
export interface Bar {
  experiment: string;
  name: string;
  project: string;
  kind: 'running' | 'queued';
  from: number;
  /** Most likely end; null: not known. */
  to: number | null;
  /** Bounds of the end of a running experiment, or of the start of a queued one; null: not known. */
  range: { earliest: number; latest: number } | null;
  /** Whether it is queued and its start is reserved. */
  isHead: boolean;
  /** The line of the lane on which it is drawn, from 0. */
  row: number;
  item: Allocated | Queued;
}

/** A node, its running experiments, and the queued ones that are expected there. */
export interface Lane {
  cluster: string;
  node: string;
  gpusTotal: number;
  gpusInUse: number;
  bars: Bar[];
  rows: number;
}

/** A lane for each node of the clusters, and for nodes that are gone but still have an experiment. */
export function lanesOf(
  {
    clusters,
    allocated,
    queued,
  }: { clusters: readonly Cluster[]; allocated: readonly Allocated[]; queued: readonly Queued[] },
  now: number,
): Lane[] {
  const bars = new Map<string, Bar[]>();
  const add = (cluster: string, node: string, bar: Omit<Bar, 'row'>) => {
    const key = `${cluster}\n${node}`;
    bars.set(key, [...(bars.get(key) ?? []), { ...bar, row: 0 }]);
  };
  for (const item of allocated) add(item.cluster, item.node, runningBar(item, now));
  for (const item of queued)
    for (const node of item.place?.nodes ?? []) add(item.place!.cluster, node, queuedBar(item));
  const lanes = clusters.flatMap(({ name, nodes }) =>
    nodes.map(({ id, gpusTotal, gpusFree }): Lane => {
      const key = `${name}\n${id}`;
      const own = packed(bars.get(key) ?? []);
      bars.delete(key);
      return { cluster: name, node: id, gpusTotal, gpusInUse: gpusTotal - gpusFree, ...own };
    }),
  );
  const gone = [...bars].map(([key, found]): Lane => {
    const [cluster, node] = key.split('\n') as [string, string];
    return { cluster, node, gpusTotal: 0, gpusInUse: 0, ...packed(found) };
  });
  // Nodes with GPUs first.
  return [...lanes.toSorted((a, b) => Number(b.gpusTotal > 0) - Number(a.gpusTotal > 0)), ...gone];
}

function runningBar(item: Allocated, now: number): Omit<Bar, 'row'> {
  const { experiment, name, project, startedAt, end } = item;
  return {
    experiment,
    name,
    project,
    kind: 'running',
    isHead: false,
    item,
    from: startedAt ?? now,
    to: end?.endAt ?? null,
    range: end,
  };
}

function queuedBar(item: Queued): Omit<Bar, 'row'> {
  const { experiment, name, project, place, estimate } = item;
  return {
    experiment,
    name,
    project,
    kind: 'queued',
    isHead: place!.isHead,
    item,
    from: estimate!.startAt,
    to: place!.endAt,
    range: estimate,
  };
}

/** Details of a bar in words. */
export function factsOf({ item }: Bar, now: number, names: ReadonlyMap<string, string>): string {
  const between = (earliest: number, latest: number) => `${clock(earliest, now)} to ${clock(latest, now)}`;
  const needs = `${counted(item.gpus, 'GPU')}, ${counted(item.cpus, 'CPU')}`;
  if (!('position' in item)) {
    const { state, startedAt, end, leavesAt } = item;
    const since = startedAt === null ? '' : ` since ${clock(startedAt, now)}`;
    const until =
      end === null
        ? 'The end is not known yet'
        : `Expected end ${clock(end.endAt, now)} (${between(end.earliest, end.latest)})`;
    const leaves =
      leavesAt === null
        ? ''
        : ` Preempted: it stops at its next checkpoint, at the latest ${clock(leavesAt, now)}, and continues later.`;
    return `${state ?? 'running'}${since}. ${until}. ${needs} on this node.${leaves}`;
  }
  const { position, estimate, waitReason, place } = item;
  const { startAt, earliest, latest } = estimate!;
  const start = `Estimated start ${clock(startAt, now)} (${between(earliest, latest)})`;
  const held = place!.isHead ? ' The start is reserved: no later experiment may delay it.' : '';
  const end = place!.endAt === null ? ' The run time is not known.' : '';
  const why = waitReason === null ? '' : ` Why not now: ${withNames(waitReason, names)}.`;
  return `queued at position ${position}. ${start}. ${needs}.${held}${end}${why}`;
}

/** Rows of the bars with GPUs, and below them of those that only need CPUs. */
function packed(bars: Bar[]): Pick<Lane, 'bars' | 'rows'> {
  const [gpu, cpu] = [bars.filter(({ item }) => item.gpus !== 0), bars.filter(({ item }) => item.gpus === 0)];
  const [above, below] = [pack(gpu), pack(cpu)];
  const moved = below.bars.map((bar) => ({ ...bar, row: bar.row + above.rows }));
  return { bars: [...above.bars, ...moved], rows: Math.max(1, above.rows + below.rows) };
}

/** Gives each bar the first row on which no earlier bar is in its way. */
function pack(bars: Bar[]): Pick<Lane, 'bars' | 'rows'> {
  const ends: number[] = [];
  const rows = bars
    .toSorted((a, b) => a.from - b.from)
    .map((bar) => {
      const free = ends.findIndex((end) => end <= bar.from);
      const row = free === -1 ? ends.length : free;
      ends[row] = bar.to ?? Number.POSITIVE_INFINITY;
      return { ...bar, row };
    });
  return { bars: rows, rows: ends.length };
}

/** The bar that an arrow key leads to, as indices of lane and bar; undefined: none. */
export function neighbour(
  lanes: readonly Pick<Lane, 'bars'>[],
  [lane, bar]: readonly [number, number],
  key: string,
): [number, number] | undefined {
  if (key === 'ArrowRight' || key === 'ArrowLeft') {
    const next = bar + (key === 'ArrowRight' ? 1 : -1);
    return lanes[lane]?.bars[next] === undefined ? undefined : [lane, next];
  }
  if (key !== 'ArrowDown' && key !== 'ArrowUp') return undefined;
  const from = lanes[lane]!.bars[bar]!.from;
  const step = key === 'ArrowDown' ? 1 : -1;
  for (let at = lane + step; lanes[at] !== undefined; at += step) {
    const distances = lanes[at]!.bars.map((one) => Math.abs(one.from - from));
    if (distances.length > 0) return [at, distances.indexOf(Math.min(...distances))];
  }
  return undefined;
}

/** An axis of time, in ms since 1970. */
export interface Axis {
  from: number;
  to: number;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  7 * DAY,
  30 * DAY,
];

/**
 * An axis from the past to the last of the times. The past takes at most a third of it, so that a long run does not hide
 * the queued experiments.
 */
export function axisAround(now: number, times: readonly number[]): Axis {
  const ahead = 1.04 * Math.max(2 * MINUTE, ...times.map((at) => at - now));
  const since = 1.04 * Math.max(0, ...times.map((at) => now - at));
  return { from: now - Math.min(ahead / 2, Math.max(since, ahead / 12)), to: now + ahead };
}

/** Where a time is on the axis, from 0 to 1; times beyond its ends are at the ends. */
export function placeOn({ from, to }: Axis, at: number): number {
  return Math.min(1, Math.max(0, (at - from) / (to - from)));
}

/** Round times on the axis, at most `most`; `offsetMs`: local time minus UTC. */
export function ticksOf({ from, to }: Axis, most: number, offsetMs: number): number[] {
  const step = STEPS.find((one) => (to - from) / one <= most) ?? (to - from) / most;
  const ticks: number[] = [];
  for (let at = Math.ceil((from + offsetMs) / step) * step - offsetMs; at <= to; at += step) ticks.push(at);
  return ticks;
}

/** Pixels of a character of the axis, and between two of its labels. */
const [CHARACTER, APART] = [6.5, 10];

/** The times of which the label has room on an axis of this width in pixels: within its ends, and beside the label `now`. */
export function ticksThatFit(axis: Axis, ticks: readonly number[], now: number, width: number): number[] {
  const half = (label: string) => (label.length * CHARACTER) / 2;
  const here = placeOn(axis, now) * width;
  return ticks.filter((at) => {
    const own = half(clock(at, now));
    const x = placeOn(axis, at) * width;
    return x >= own && x + own <= width && Math.abs(x - here) >= own + half('now') + APART;
  });
}

/** Groups that have a colour of their own. */
const COLOURS = 5;

/** The colour of each group of bars, from 1; groups after the first {@link COLOURS} have 0. Children of a sweep are named `SWEEP: VALUES`. */
export function coloursOf(
  bars: readonly Pick<Bar, 'name' | 'project'>[],
  by: 'sweep' | 'project',
): { groupOf: (bar: Pick<Bar, 'name' | 'project'>) => string; colours: Map<string, number> } {
  const groupOf = ({ name, project }: Pick<Bar, 'name' | 'project'>) =>
    by === 'project' ? project : name.split(': ')[0]!;
  const sizes = Map.groupBy(bars, groupOf);
  const largest = [...sizes].sort((a, b) => b[1].length - a[1].length);
  // A colour relates bars to one another: one bar alone has none, unless it has a project's.
  const isRelated = (own: readonly unknown[]) => by === 'project' || own.length > 1;
  const colours = largest.map(
    ([group, own], at) => [group, at < COLOURS && isRelated(own) ? at + 1 : 0] as const,
  );
  return { groupOf, colours: new Map(colours) };
}
