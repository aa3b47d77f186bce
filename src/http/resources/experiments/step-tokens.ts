import { Type } from 'typebox';
import { StrictObject } from '../../../schemas/objects.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { experimentOf } from '../common.ts';
import { BatchParams, batchOf, recomputed } from './batches.ts';

/** GET …/batches/:attempt/:batch/tokens. */
export function addStepTokens(app: App, { store, verifier, onDemand }: RouteDeps): void {
  route(app, {
    at: 'GET /v1/experiments/:id/batches/:attempt/:batch/tokens',
    operationId: 'getStepTokens',
    summary: 'Get the tokens of a row of a recorded optimizer step in columns',
    description:
      'Recomputes the tokens of the row: outcome, first stage that breaks, recomputed and reported gradient coefficient. Also returns the layout of the micro-batches.',
    tag: 'verification',
    params: BatchParams,
    querystring: StrictObject({
      row: Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, description: 'Index of the row, from 0.' }),
    }),
    answer: 'StepTokens',
    problems: ['not-found', 'not-verifiable', 'expired', 'verifier-busy'],
    handler: async (request, reply) => {
      const { id, attempt, batch } = request.params;
      const experiment = await experimentOf(store, request, id);
      const record = await batchOf(store, { id: experiment.id, attempt, batch });
      const work = onDemand(request, reply, async (asked) =>
        verifier.tokens(await store.batches.bytes(record), request.query.row, asked),
      );
      return (await recomputed(work, 'The tokens of this batch cannot be read')) as never;
    },
  });
}
