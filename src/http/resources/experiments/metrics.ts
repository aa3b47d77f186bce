import { Type } from 'typebox';
import type { StreamEntry } from '../../../core/events.ts';
import { parseEntryId } from '../../../core/ids.ts';
import type { MetricChart, MetricPoints } from '../../../schemas/streams.ts';
import { strict } from '../../../schemas/strict.ts';
import type { Store } from '../../../store/store.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { READ } from '../../server/policy.ts';
import { problems } from '../../server/responses.ts';
import { AfterParam, ExperimentParams, experimentOf, namesQuery, streamPlace } from '../common.ts';
import { readOn } from './read-steps.ts';

/** Metric events in one answer at most. */
const MAX_EVENTS = 2000;
/** Values of one page: some 3 MB of answer, however many metrics a step has. */
const MAX_VALUES = 50_000;
/** Points of a chart, over all its series: where there are many series, each has fewer. */
const MAX_POINTS = 20_000;
const MAX_RESOLUTION = 2000;
const DEFAULT_RESOLUTION = 500;
const MAX_EXPERIMENTS = 20;
/** Each such call of the store has to be answered in time. */
const NAMES_AT_ONCE = 50;
const LAST_STEP = 2 ** 32 - 1;

const Names = namesQuery(
  100,
  'Only these metrics; separated by commas, or repeated. `actor/*`: those that begin with `actor/`',
);
const Step = (description: string) => Type.Integer({ minimum: 0, maximum: LAST_STEP, description });
const ChartQuery = {
  from: Type.Optional(Step('Only from this step on')),
  to: Type.Optional(Step('Only up to this step')),
  resolution: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_RESOLUTION,
      description: `Points of a series at most; default ${DEFAULT_RESOLUTION}. An answer has at most ${MAX_POINTS} points, so many series have fewer each`,
    }),
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
  app.get(
    '/v1/experiments/:id/metrics',
    {
      config: { policy: READ },
      schema: {
        operationId: 'getMetrics',
        summary: 'Metrics over the steps, as a chart',
        description:
          'A point stands for one recorded value, or for several that follow each other: its steps, their first, last, smallest, largest and mean value, and how many. Values that are no finite numbers are counted, and shown where they are the first or the last. From the first step that a later attempt reports on, only its values stand. The answer costs the same for a hundred steps and a million. Names that are not known are left out.',
        tags: ['streams'],
        params: ExperimentParams,
        querystring: Type.Object({ names: Type.Optional(Names), ...ChartQuery }, strict),
        response: { 200: { $ref: 'MetricChart#' }, ...problems('not-found') },
      },
    },
    async (request): Promise<MetricChart> => {
      const experiment = await experimentOf(store, request, request.params.id);
      const [chart] = await chartsOf(store, [experiment.id], { names: undefined, ...request.query });
      return chart!;
    },
  );
}

function addComparison(app: App, store: Store): void {
  app.get(
    '/v1/metrics',
    {
      config: { policy: READ },
      schema: {
        operationId: 'compareMetrics',
        summary: 'The same metrics of several experiments',
        description: 'As the chart of each of them, on one resolution.',
        tags: ['streams'],
        querystring: Type.Object(
          {
            experiments: Type.Array(Type.String(), {
              minItems: 1,
              maxItems: MAX_EXPERIMENTS,
              uniqueItems: true,
              description: 'Their ids, separated by commas, or repeated',
            }),
            names: Names,
            ...ChartQuery,
          },
          strict,
        ),
        response: { 200: { $ref: 'MetricCharts#' }, ...problems('not-found') },
      },
    },
    async (request) => {
      const { experiments: asked, ...query } = request.query;
      const ids: string[] = [];
      for (const id of asked) ids.push((await experimentOf(store, request, id)).id);
      const charts = await chartsOf(store, ids, query);
      return { items: charts.map((chart, index) => ({ experiment: ids[index], ...chart })) };
    },
  );
}

function addNames(app: App, store: Store): void {
  app.get(
    '/v1/experiments/:id/metrics/names',
    {
      config: { policy: READ },
      schema: {
        operationId: 'getMetricNames',
        summary: 'Names of all metrics, with their last values',
        description: 'Every name that was ever reported, also by attempts that were lost.',
        tags: ['streams'],
        params: ExperimentParams,
        response: { 200: { $ref: 'MetricNames#' }, ...problems('not-found') },
      },
    },
    async (request) => {
      const { id } = await experimentOf(store, request, request.params.id);
      return { items: await store.metrics.names(id) };
    },
  );
}

function addPoints(app: App, store: Store): void {
  app.get(
    '/v1/experiments/:id/metrics/points',
    {
      config: { policy: READ },
      schema: {
        operationId: 'getMetricPoints',
        summary: 'Every recorded value of metrics, page by page',
        description:
          'At full precision, of all attempts, in the order in which they were recorded. A page ends after 2,000 steps, or behind the step that brings 50,000 values; go on with `after` while `more` is true.',
        tags: ['streams'],
        params: ExperimentParams,
        querystring: Type.Object({ names: Type.Optional(Names), after: AfterParam }, strict),
        response: { 200: { $ref: 'MetricPoints#' }, ...problems('not-found', 'invalid-cursor') },
      },
    },
    async (request) => {
      const experiment = await experimentOf(store, request, request.params.id);
      const after = streamPlace({ value: request.query.after, field: 'after', experiment });
      const most = { most: MAX_EVENTS, mostSize: MAX_VALUES };
      const page = await readOn(store, { id: experiment.id, after, ...most, sizeOf: valuesOf });
      return { series: seriesOf(page.entries, request.query.names), after: page.after, more: page.more };
    },
  );
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

/** How many values an entry has; undefined where it is none of metrics. */
function valuesOf({ event }: StreamEntry): number | undefined {
  return event.type === 'metrics' ? Object.keys(event.values).length : undefined;
}

/** The values of metric events as one series for each name (of `names`, where given), in order of first appearance. */
export function seriesOf(
  entries: readonly StreamEntry[],
  names: readonly string[] | undefined,
): MetricPoints['series'] {
  const series = new Map<string, MetricPoints['series'][number]['points']>();
  const isNamed = nameFilter(names);
  for (const { id, event } of entries) {
    if (event.type !== 'metrics') continue;
    const attempt = parseEntryId(id)?.attempt ?? 0;
    for (const [name, value] of Object.entries(event.values)) {
      const points = series.get(name) ?? [];
      if (points.length === 0 && !isNamed(name)) continue;
      points.push({ attempt, step: event.step, value });
      series.set(name, points);
    }
  }
  return [...series].map(([name, points]) => ({ name, points }));
}
