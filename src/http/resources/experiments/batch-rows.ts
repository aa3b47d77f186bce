import { Type } from 'typebox';
import { EchelonError } from '../../../core/errors.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import { count } from '../../../schemas/optional-fields.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { experimentOf } from '../common.ts';
import { BatchParams, batchOf, recomputed } from './batches.ts';

const RowsQuery = StrictObject({
  first: count(0, 2 ** 31 - 1, 'Skip this many rows. Default: 0.'),
  count: count(1, 100_000, 'Maximum number of rows. Default: 10,000.'),
  trajectory: Type.Optional(
    Type.String({ maxLength: 1000, description: 'Return only rows of the trajectory with this name.' }),
  ),
  sameStateAs: count(
    0,
    2 ** 31 - 1,
    'Return only rows of the same group and with the same observation as this row, from 0.',
  ),
});

/** GET …/batches/:attempt/:batch/rows. */
export function addBatchRows(app: App, { store, verifier, onDemand }: RouteDeps): void {
  route(app, {
    at: 'GET /v1/experiments/:id/batches/:attempt/:batch/rows',
    operationId: 'getBatchRows',
    summary: 'Get rows of a recorded batch in columns',
    description:
      'Recomputes the rows from the recorded batch: outcome, reported and true advantage, admissible interval, and the contribution of every level. Rows are in the order of the batch.',
    tag: 'verification',
    params: BatchParams,
    querystring: RowsQuery,
    answer: 'BatchRows',
    problems: ['not-found', 'not-verifiable', 'expired', 'verifier-busy'],
    handler: async (request, reply) => {
      const { id, attempt, batch } = request.params;
      const { first = 0, count = 10_000, trajectory, sameStateAs } = request.query;
      const experiment = await experimentOf(store, request, id);
      const record = await batchOf(store, { id: experiment.id, attempt, batch });
      if (sameStateAs !== undefined && sameStateAs >= record.rows) {
        throw new EchelonError('invalid-request', `The batch has ${record.rows} rows.`, {
          problems: [{ field: 'sameStateAs', message: `must be from 0 to ${record.rows - 1}` }],
        });
      }
      const query = {
        first,
        count,
        ...(trajectory !== undefined && { trajectory }),
        ...(sameStateAs !== undefined && { sameStateAs }),
      };
      const work = onDemand(request, reply, async (asked) =>
        verifier.rows(await store.batches.bytes(record), query, asked),
      );
      const json = await recomputed(work, 'The rows of this batch cannot be read');
      // The child process wrote the JSON text: a large answer must not block the event loop.
      const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
      return reply.type('application/json; charset=utf-8').send(bytes as never);
    },
  });
}
