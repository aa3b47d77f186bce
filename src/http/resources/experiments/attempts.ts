import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { ExperimentParams, experimentOf } from '../common.ts';

/** GET /v1/experiments/:id/attempts. */
export function addAttempts(app: App, { store }: RouteDeps): void {
  route(app, {
    at: 'GET /v1/experiments/:id/attempts',
    operationId: 'listAttempts',
    summary: 'List the attempts of an experiment, oldest first',
    description:
      'A new attempt starts if the previous one was lost or ended by an external cause. Attempt numbers only increase.',
    tag: 'experiments',
    params: ExperimentParams,
    answer: 'AttemptList',
    problems: ['not-found'],
    handler: async (request) => {
      const { id } = await experimentOf(store, request, request.params.id);
      const attempts = await store.attempts.list(id);
      return {
        items: attempts.map(({ attempt, cluster, claimedAt, confirmedAt, lastSequence, ended }) => ({
          attempt,
          cluster,
          claimedAt,
          confirmedAt,
          lastSequence,
          ended,
        })),
      };
    },
  });
}
