import { Type } from 'typebox';
import type { StreamEntry } from '../../../core/events.ts';
import { parseEntryId } from '../../../core/ids.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import { count } from '../../../schemas/optional-fields.ts';
import type { MetricChart, MetricPoints } from '../../../schemas/streams.ts';
import type { Store } from '../../../store/store.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { AfterParam, ExperimentParams, experimentOf, namesQuery, streamPlace } from '../common.ts';

/** Metric events in one answer at most. */
const MAX_EVENTS = 2000;
/** Values of one page: some 3 MB of answer, however many metrics a step has. */
const MAX_VALUES = 50_000;
/** Points of a chart, over all its series: with many series, each has fewer. */
const MAX_POINTS = 20_000;
const MAX_RESOLUTION = 2000;
const DEFAULT_RESOLUTION = 500;
const MAX_EXPERIMENTS = 20;
/** Each such call of the store has to be answered in time. */
const NAMES_AT_ONCE = 50;
const LAST_STEP = 2 ** 32 - 1;

const Names = namesQuery(
  100,
  'Names of metrics, separated by commas or repeated. `actor/*` selects all names that begin with `actor/`.',
);
const Step = (description: string) => Type.Integer({ minimum: 0, maximum: LAST_STEP, description });
const ChartQuery = {
  from: Type.Optional(Step('First step to return.')),
  to: Type.Optional(Step('Last step to return.')),
  resolution: count(
    1,
    MAX_RESOLUTION,
    `Points of a series at most; default ${DEFAULT_RESOLUTION}. An answer has at most ${MAX_POINTS} points, so many series have fewer each`,
  ),
};

interface ChartRequest {
  names: readonly string[] | undefined;
  from?: number;
  to?: number;
  resolution?: number;
}

/** Metrics over the steps: charts whose cost does not depend on the length of the run, names, and every point. */
export function addMetrics(app: App, { store }: RouteDeps): void {
  addChart(app, store);
  addComparison(app, store);
  addNames(app, store);
  addPoints(app, store);
}

function addChart(app: App, store: Store): void {
  route(app, {
    at: 'GET /v1/experiments/:id/metrics',
    operationId: 'getMetrics',
    summary: 'Get a chart of metrics over steps',
    description:
      'Each point summarizes consecutive recorded values: steps, count, and first, last, smallest, largest and mean value. Non-finite values are counted, and shown if they are first or last. From the first step of a later attempt, only its values count. The cost does not depend on the number of steps. Unknown names are omitted.',
    tag: 'streams',
    params: ExperimentParams,
    querystring: StrictObject({ names: Type.Optional(Names), ...ChartQuery }),
    answer: 'MetricChart',
    problems: ['not-found'],
    handler: async (request): Promise<MetricChart> => {
      const experiment = await experimentOf(store, request, request.params.id);
      const [chart] = await chartsOf(store, [experiment.id], { names: undefined, ...request.query });
      return chart!;
    },
  });
}

function addComparison(app: App, store: Store): void {
  route(app, {
    at: 'GET /v1/metrics',
    operationId: 'compareMetrics',
    summary: 'Compare metrics of several experiments',
    description: 'Returns the chart of each experiment at the same resolution.',
    tag: 'streams',
    querystring: StrictObject({
      experiments: Type.Array(Type.String(), {
        minItems: 1,
        maxItems: MAX_EXPERIMENTS,
        uniqueItems: true,
        description: 'Ids of the experiments, separated by commas or repeated.',
      }),
      names: Names,
      ...ChartQuery,
    }),
    answer: 'MetricCharts',
    problems: ['not-found'],
    handler: async (request) => {
      const { experiments: asked, ...query } = request.query;
      const ids: string[] = [];
      for (const id of asked) ids.push((await experimentOf(store, request, id)).id);
      const charts = await chartsOf(store, ids, query);
      return { items: charts.map((chart, index) => ({ experiment: ids[index], ...chart })) };
    },
  });
}

function addNames(app: App, store: Store): void {
  route(app, {
    at: 'GET /v1/experiments/:id/metrics/names',
    operationId: 'getMetricNames',
    summary: 'List metric names with their latest values',
    description: 'Lists every name that any attempt has reported.',
    tag: 'streams',
    params: ExperimentParams,
    answer: 'MetricNames',
    problems: ['not-found'],
    handler: async (request) => {
      const { id } = await experimentOf(store, request, request.params.id);
      return { items: await store.metrics.names(id) };
    },
  });
}

function addPoints(app: App, store: Store): void {
  route(app, {
    at: 'GET /v1/experiments/:id/metrics/points',
    operationId: 'getMetricPoints',
    summary: 'Get every recorded metric value, page by page',
    description:
      'Returns values of all attempts at full precision, in recorded order. A page ends after 2,000 steps or the step that reaches 50,000 values. Continue with `after` while `more` is true.',
    tag: 'streams',
    params: ExperimentParams,
    querystring: StrictObject({ names: Type.Optional(Names), after: AfterParam }),
    answer: 'MetricPoints',
    problems: ['not-found', 'invalid-cursor'],
    handler: async (request) => {
      const experiment = await experimentOf(store, request, request.params.id);
      const after = streamPlace({ value: request.query.after, field: 'after', experiment });
      const most = { most: MAX_EVENTS, mostSize: MAX_VALUES };
      const page = await readOn(store, { id: experiment.id, after, ...most, sizeOf: valuesOf });
      return { series: seriesOf(page.entries, request.query.names), after: page.after, more: page.more };
    },
  });
}

/** A chart of each of these experiments, all on one resolution. */
async function chartsOf(
  store: Store,
  ids: readonly string[],
  { names: wanted, from = 0, to = LAST_STEP, resolution = DEFAULT_RESOLUTION }: ChartRequest,
): Promise<MetricChart[]> {
  const isNamed = nameFilter(wanted);
  const names = await Promise.all(
    ids.map(async (id) => (await store.metrics.names(id)).map(({ name }) => name).filter(isNamed)),
  );
  const count = names.reduce((sum, some) => sum + some.length, 0);
  const fitting = Math.max(1, Math.min(resolution, Math.floor(MAX_POINTS / Math.max(1, count))));
  const charts: MetricChart[] = [];
  for (const [index, id] of ids.entries()) {
    const series: MetricChart['series'] = [];
    for (let at = 0; at < names[index]!.length; at += NAMES_AT_ONCE) {
      const some = names[index]!.slice(at, at + NAMES_AT_ONCE);
      const points = await store.metrics.series(id, { names: some, from, to, resolution: fitting });
      series.push(...some.map((name, place) => ({ name, points: points[place]! })));
    }
    charts.push({ series, resolution: fitting });
  }
  return charts;
}

/** Whether a metric is among `names`, each of them a name, or the beginning of names and `*`; undefined: it is. */
function nameFilter(names: readonly string[] | undefined): (name: string) => boolean {
  if (names === undefined) return () => true;
  const exact = new Set(names);
  const beginnings = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  return (name) => exact.has(name) || beginnings.some((beginning) => name.startsWith(beginning));
}

/** How many values an entry has; undefined if it has no metrics. */
function valuesOf({ event }: StreamEntry): number | undefined {
  return event.type === 'metrics' ? Object.keys(event.values).length : undefined;
}

/** The values of metric events as one series for each name (of `names`, if given), in order of first appearance. */
export function seriesOf(
  entries: readonly StreamEntry[],
  names: readonly string[] | undefined,
): MetricPoints['series'] {
  const series = new Map<string, MetricPoints['series'][number]['points']>();
  const isNamed = nameFilter(names);
  for (const { id, at, event } of entries) {
    if (event.type !== 'metrics') continue;
    const attempt = parseEntryId(id)?.attempt ?? 0;
    for (const [name, value] of Object.entries(event.values)) {
      const points = series.get(name) ?? [];
      if (points.length === 0 && !isNamed(name)) continue;
      points.push({ attempt, step: event.step, value, at });
      series.set(name, points);
    }
  }
  return [...series].map(([name, points]) => ({ name, points }));
}

const PAGE = 500;
/** Entries that one request looks through at most, wanted or not. */
const MAX_READ = 10_000;

/**
 * Reads a stream from `after` on and keeps the entries that are wanted, until there are `most`, or they are as large
 * together as `mostSize`. `sizeOf` an entry that is not wanted is undefined. The answer's `after` is the last entry that
 * was looked at (null: none), `more` whether later entries may already exist.
 */
export async function readOn(
  store: Store,
  input: {
    id: string;
    after: string | undefined;
    most: number;
    mostSize: number;
    sizeOf: (entry: StreamEntry) => number | undefined;
  },
): Promise<{ entries: StreamEntry[]; after: string | null; more: boolean }> {
  const entries: StreamEntry[] = [];
  let { after } = input;
  let size = 0;
  for (let read = 0; read < MAX_READ; read += PAGE) {
    const page = await store.events.read(input.id, after, PAGE);
    for (const entry of page) {
      after = entry.id;
      const own = input.sizeOf(entry);
      if (own === undefined) continue;
      entries.push(entry);
      size += own;
      if (entries.length === input.most || size >= input.mostSize) return { entries, after, more: true };
    }
    if (page.length < PAGE) return { entries, after: after ?? null, more: false };
  }
  return { entries, after: after ?? null, more: true };
}
