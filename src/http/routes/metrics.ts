import { Type } from 'typebox';
import type { StreamEntry } from '../../core/events.ts';
import { parseEntryId } from '../../core/ids.ts';
import type { MetricSeries } from '../../schemas/api.ts';
import type { App, RouteDeps } from '../deps.ts';
import { readOn } from '../read-on.ts';
import { problems } from '../responses.ts';
import { AfterParam, ExperimentParams, experimentOf, streamPlace, strict } from './common.ts';

/** Metric events in one answer at most. */
const MOST_EVENTS = 2000;

const Query = Type.Object(
  {
    names: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
        maxItems: 100,
        description: 'Only these metrics; separated by commas, or repeated',
      }),
    ),
    after: AfterParam,
  },
  strict,
);

/** GET /v1/experiments/:id/metrics: series by name, read from the stream. */
export function addMetrics(app: App, { store }: RouteDeps): void {
  app.get(
    '/v1/experiments/:id/metrics',
    {
      schema: {
        operationId: 'getMetrics',
        summary: 'Values of metrics, by name',
        description:
          'At full precision. A page ends after 2,000 steps; go on with `after` while `more` is true.',
        tags: ['streams'],
        params: ExperimentParams,
        querystring: Query,
        response: { 200: { $ref: 'MetricSeries#' }, ...problems('not-found', 'invalid-cursor') },
      },
    },
    async (request) => {
      const experiment = await experimentOf(store, request, request.params.id);
      const after = streamPlace({ value: request.query.after, field: 'after', experiment });
      const page = await readOn(store, { id: experiment.id, after, most: MOST_EVENTS, isWanted });
      return { series: seriesOf(page.entries, request.query.names), after: page.after, more: page.more };
    },
  );
}

function isWanted({ event }: StreamEntry): boolean {
  return event.type === 'metrics';
}

/** The values of metric events as one series for each name (of `names`, where given), in order of first appearance. */
export function seriesOf(
  entries: readonly StreamEntry[],
  names: readonly string[] | undefined,
): MetricSeries['series'] {
  const series = new Map<string, MetricSeries['series'][number]['points']>();
  const wanted = names && new Set(names);
  for (const { id, event } of entries) {
    if (event.type !== 'metrics') continue;
    const attempt = parseEntryId(id)?.attempt ?? 0;
    for (const [name, value] of Object.entries(event.values)) {
      if (wanted && !wanted.has(name)) continue;
      const points = series.get(name) ?? [];
      points.push({ attempt, step: event.step, value });
      series.set(name, points);
    }
  }
  return [...series].map(([name, points]) => ({ name, points }));
}
