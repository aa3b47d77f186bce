import { Type } from 'typebox';
import { clusterViews } from '../cluster-views.ts';
import type { App, RouteDeps } from '../deps.ts';
import { problems } from '../responses.ts';
import { strict } from './common.ts';

const Query = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, description: 'Of the line; 100 where it is left out' }),
    ),
  },
  strict,
);

/** GET /v1/queues. */
export function addQueues(app: App, deps: RouteDeps): void {
  app.get(
    '/v1/queues',
    {
      schema: {
        operationId: 'getQueue',
        summary: 'The line: counts, who waits and why, what the clusters have',
        tags: ['queue'],
        querystring: Query,
        response: { 200: { $ref: 'Queue#' }, ...problems() },
      },
    },
    async (request) => queueView(deps, request.query.limit ?? 100),
  );
}

async function queueView(deps: Pick<RouteDeps, 'store' | 'clock'>, limit: number) {
  const { store } = deps;
  const [counts, waiting, backlog, pressure, clusters] = await Promise.all([
    store.counts(),
    store.waiting(limit),
    store.backlog(),
    store.pressure(),
    clusterViews(deps),
  ]);
  return {
    counts,
    accepting: pressure.accepting,
    length: counts.queued,
    waiting: waiting.map((one, index) => ({
      position: index + 1,
      experiment: one.experiment,
      name: one.name,
      project: one.project,
      priority: one.priority,
      cluster: one.cluster,
      gpus: one.gpus,
      cpus: one.cpus,
      submittedAt: one.submittedAt,
      reason: one.reason,
    })),
    verificationBacklog: backlog,
    clusters,
  };
}
