import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { experimentOf } from '../common.ts';
import { BatchParams, batchOf, recomputed } from './batches.ts';

/** GET …/batches/:attempt/:batch/bundle. */
export function addBundles(app: App, { store, verifier, settings, onDemand }: RouteDeps): void {
  route(app, {
    at: 'GET /v1/experiments/:id/batches/:attempt/:batch/bundle',
    operationId: 'getBundle',
    summary: 'Download a recorded batch as a bundle',
    description:
      'Returns gzip-compressed JSON in the format echelon-batch/1: columns, parameters and provenance. The field `bundle` has the origin and the stored report. `echelon verify FILE` produces the same report on any machine; `echelon estimate` and `echelon compare` recompute the estimates.',
    tag: 'verification',
    params: BatchParams,
    answers: {
      200: {
        description: 'The bundle.',
        content: { 'application/gzip': { schema: { type: 'string', format: 'binary' } } },
      },
    },
    problems: ['not-found', 'not-verifiable', 'expired', 'verifier-busy'],
    handler: async (request, reply) => {
      const { id, attempt, batch } = request.params;
      const experiment = await experimentOf(store, request, id);
      const record = await batchOf(store, { id: experiment.id, attempt, batch });
      const { step, digest, report } = record;
      const origin = { experiment: experiment.id, attempt, batch, step, digest, report: report ?? null };
      const about = { ...origin, version: settings.version };
      const work = onDemand(request, reply, async (asked) =>
        verifier.bundle(await store.batches.bytes(record), about, asked),
      );
      const file = await recomputed(work, 'This batch cannot be written as a bundle');
      return reply
        .type('application/gzip')
        .header('content-disposition', `attachment; filename="${experiment.id}-${attempt}-${batch}.json.gz"`)
        .send(Buffer.from(file.buffer, file.byteOffset, file.byteLength) as unknown as string);
    },
  });
}
