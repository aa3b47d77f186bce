import { Type } from 'typebox';
import type { Caller } from '../../core/scopes.ts';
import { seenClusters } from '../caller-projects.ts';
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
        description:
          'A key that is bound to a project sees the counts and the waiting of that one, at their places in the whole line.',
        tags: ['queue'],
        querystring: Query,
        response: { 200: { $ref: 'Queue#' }, ...problems() },
      },
    },
    async ({ caller, query }) => queueView(deps, caller, query.limit ?? 100),
  );
}

async function queueView(deps: Pick<RouteDeps, 'store' | 'clock'>, caller: Caller, limit: number) {
  const { store } = deps;
  const { project } = caller;
  const [counts, { length }, waiting, backlog, pressure, clusters] = await Promise.all([
    store.counts(project ?? undefined),
    store.position(''),
    project === null ? store.waiting(limit) : store.waitingOf(project, limit),
    store.backlog(),
    store.pressure(),
    clusterViews(deps),
  ]);
  return {
    counts,
    accepting: pressure.accepting,
    length,
    waiting: waiting.map((one, index) => ({
      position: 'rank' in one ? one.rank : index + 1,
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
    clusters: await seenClusters(store, caller, clusters),
  };
}
