import type { App, RouteDeps } from '../../server/deps.ts';
import { READ } from '../../server/policy.ts';
import { problems } from '../../server/responses.ts';
import { ExperimentParams, experimentOf } from '../common.ts';

/** GET /v1/experiments/:id/attempts. */
export function addAttempts(app: App, { store }: RouteDeps): void {
  app.get(
    '/v1/experiments/:id/attempts',
    {
      config: { policy: READ },
      schema: {
        operationId: 'listAttempts',
        summary: 'Attempts of an experiment, from the first',
        description:
          'A new attempt begins where the one before was lost, or ended by a cause outside of it. Numbers only rise.',
        tags: ['experiments'],
        params: ExperimentParams,
        response: { 200: { $ref: 'AttemptList#' }, ...problems('not-found') },
      },
    },
    async (request) => {
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
  );
}
