import { Type } from 'typebox';
import { metricName } from '../../../schemas/metric-name.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import { count } from '../../../schemas/optional-fields.ts';
import type { SweepSeries } from '../../../schemas/sweep.ts';
import type { SeriesPoint } from '../../../store/metrics/series-items.ts';
import type { Store } from '../../../store/store.ts';
import { createCursors } from '../../server/cursor.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { RATE, spreadOf } from '../../server/spread.ts';
import { namesQuery, PageQuery } from '../common.ts';
import { childrenOf } from './children.ts';
import { combinationsOf, isRate } from './comparison.ts';
import { axesNamed, SweepParams, sweepOf } from './sweeps.ts';

/** Children of one combination whose series are read; `curves` says how many there were. */
const MAX_CURVES = 20;
const MAX_BANDS = 20;
const DEFAULT_RESOLUTION = 200;
/** Points read per band point, so that no point of a child is wider than a band point. */
const FINER = 4;

const Query = StrictObject({
  ...PageQuery,
  limit: count(1, MAX_BANDS, 'Combinations per page. Default: 10.'),
  metric: Type.Optional(metricName('Name of the metric. Default: the metric of the sweep.')),
  over: Type.Optional(
    namesQuery(16, 'JSON pointers of the axes to aggregate over. Default: axes that end in `seed`.'),
  ),
  resolution: count(1, 500, `Maximum number of points of a band. Default: ${DEFAULT_RESOLUTION}.`),
});

/** GET /v1/sweeps/:id/series. */
export function addSweepSeries(app: App, { store, settings }: RouteDeps): void {
  const cursors = createCursors(settings.cookieSecret);
  route(app, {
    at: 'GET /v1/sweeps/:id/series',
    operationId: 'getSweepSeries',
    summary: 'Get a metric over the steps of each combination of a sweep, aggregated over seeds',
    description: `Each point has mean, spread and count over the children that recorded a finite value in its steps, running children included. At most ${MAX_CURVES} children of a combination are read; \`curves\` and \`children\` say how many.`,
    tag: 'sweeps',
    params: SweepParams,
    querystring: Query,
    answer: 'SweepSeries',
    problems: ['not-found', 'invalid-cursor'],
    handler: async (request): Promise<SweepSeries> => {
      const sweep = await sweepOf(store, request, request.params.id);
      const {
        cursor,
        limit = 10,
        metric = sweep.metric.name,
        resolution = DEFAULT_RESOLUTION,
      } = request.query;
      const over = axesNamed(sweep, request.query.over);
      const scope = `series ${sweep.id} ${over.join(' ')}`;
      const from = cursor === undefined ? 0 : Number(cursors.open(scope, cursor));
      const all = combinationsOf(sweep.axes, await childrenOf(store, sweep), over);
      const items = [];
      for (const { values, children } of all.slice(from, from + limit)) {
        const ids = children.slice(0, MAX_CURVES).map(({ experiment }) => experiment);
        const curves = await curvesOf(store, ids, { metric, resolution });
        items.push({
          values,
          children: children.length,
          curves: curves.length,
          points: bandOf(curves, { resolution, isRate: isRate(metric) }),
        });
      }
      const next = from + items.length < all.length ? cursors.seal(scope, String(from + items.length)) : null;
      return { over, metric, items, next };
    },
  });
}

/** The series of the metric of each experiment that has recorded it. */
async function curvesOf(
  store: Pick<Store, 'metrics'>,
  ids: readonly string[],
  { metric, resolution }: { metric: string; resolution: number },
): Promise<SeriesPoint[][]> {
  const curves: SeriesPoint[][] = [];
  for (const id of ids) {
    const query = { names: [metric], resolution: FINER * resolution };
    const [points] = await store.metrics.series(id, query);
    if (points !== undefined && points.length > 0) curves.push(points);
  }
  return curves;
}

/**
 * Mean and spread over the curves in at most `resolution` bins of equally many steps. Each curve counts once per bin, with
 * the mean of its finite values there. A bin without a finite value has no point.
 */
export function bandOf(
  curves: readonly (readonly SeriesPoint[])[],
  { resolution, isRate }: { resolution: number; isRate: boolean },
): SweepSeries['items'][number]['points'] {
  const last = Math.max(0, ...curves.flatMap((points) => points.map(({ to }) => to)));
  const width = Math.max(1, Math.ceil((last + 1) / resolution));
  const bins = new Map<number, number[]>();
  for (const points of curves) {
    for (const [bin, mean] of meansOf(points, width)) bins.set(bin, [...(bins.get(bin) ?? []), mean]);
  }
  return [...bins]
    .sort(([a], [b]) => a - b)
    .map(([bin, means]) => ({
      from: bin * width,
      to: Math.min(last, (bin + 1) * width - 1),
      ...spreadOf(means, isRate ? RATE : undefined),
    }));
}

/** The mean of one curve's finite values in each bin. */
function meansOf(points: readonly SeriesPoint[], width: number): Map<number, number> {
  const sums = new Map<number, { sum: number; count: number }>();
  for (const { from, to, mean, count, nan, infinite } of points) {
    const finite = count - nan - infinite;
    if (mean === null || finite <= 0) continue;
    const bin = Math.floor((from + to) / 2 / width);
    const { sum, count: others } = sums.get(bin) ?? { sum: 0, count: 0 };
    sums.set(bin, { sum: sum + mean * finite, count: others + finite });
  }
  return new Map([...sums].map(([bin, { sum, count }]) => [bin, sum / count]));
}
