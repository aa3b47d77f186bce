import { Type } from 'typebox';
import { EchelonError } from '../../../core/errors.ts';
import { CountOf } from '../../../schemas/answer-parts.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { ExperimentParams, experimentOf, PageQuery } from '../common.ts';
import { batchOf, createBatchPages, recomputed } from './batches.ts';

const Number32 = { maximum: 2 ** 31 - 1 } as const;
const ExplainQuery = StrictObject({
  batch: Type.Integer({ minimum: 1, ...Number32, description: 'Number of the batch, from 1.' }),
  row: Type.Integer({ minimum: 0, ...Number32, description: 'Index of the row, from 0.' }),
  position: Type.Optional(
    Type.Integer({
      minimum: 0,
      ...Number32,
      description:
        'Position of a token in the row of an optimizer step, from 0. Default: the first wrong token.',
    }),
  ),
  attempt: Type.Optional(
    Type.Integer({
      minimum: 1,
      ...Number32,
      description: 'Number of the attempt. Default: the current one.',
    }),
  ),
});

/** GET …/verification, GET …/explain and POST …/verify-again. */
export function addVerification(app: App, deps: RouteDeps): void {
  addReports(app, deps);
  addExplain(app, deps);
  addVerifyAgain(app, deps);
}

function addVerifyAgain(app: App, { store }: RouteDeps): void {
  route(app, {
    at: 'POST /v1/experiments/:id/verify-again',
    operationId: 'verifyAgain',
    summary: 'Verify the batches again that could not be verified',
    description:
      'For batches with the finding `not-verifiable`, for example after the archive answered wrongly for a while. A report replaces the earlier one if the batch can be verified now.',
    tag: 'verification',
    params: ExperimentParams,
    answers: {
      202: StrictObject({ batches: CountOf('Number of these batches.') }),
    },
    problems: ['not-found'],
    handler: async (request, reply) => {
      const { id } = await experimentOf(store, request, request.params.id);
      return reply.code(202).send({ batches: await store.batches.verifyAgain(id) });
    },
  });
}

function addReports(app: App, { store, settings }: RouteDeps): void {
  const pages = createBatchPages(store, settings.cookieSecret);
  route(app, {
    at: 'GET /v1/experiments/:id/verification',
    operationId: 'getVerification',
    summary: 'Get verification counts and a page of reports',
    description:
      'Counts cover all batches, not only those of the page. A report is null until its batch is verified.',
    tag: 'verification',
    params: ExperimentParams,
    querystring: StrictObject(PageQuery),
    answer: 'Verification',
    problems: ['not-found', 'invalid-cursor'],
    handler: async (request) => {
      const experiment = await experimentOf(store, request, request.params.id);
      const { items, next } = await pages.page(experiment.id, request.query);
      return {
        counts: experiment.verification,
        items: items.map(({ attempt, batch, step, rows, digest, report }) => ({
          attempt,
          batch,
          step,
          rows,
          digest,
          report,
        })),
        next,
      };
    },
  });
}

function addExplain(app: App, { store, verifier, onDemand }: RouteDeps): void {
  route(app, {
    at: 'GET /v1/experiments/:id/explain',
    operationId: 'explainRow',
    summary: 'Explain the advantage of a row, or a token of an optimizer step',
    description:
      'Recomputes the row from the recorded batch and returns the groups, clusters and weights that determine its advantage. Of an optimizer step, it returns the chain of one token from its log-prob to its gradient coefficient.',
    tag: 'verification',
    params: ExperimentParams,
    querystring: ExplainQuery,
    answer: 'Explanation',
    problems: ['not-found', 'not-verifiable', 'expired', 'verifier-busy'],
    handler: async (request, reply) => {
      const experiment = await experimentOf(store, request, request.params.id);
      const { batch, row, position, attempt = Math.max(1, experiment.attempt) } = request.query;
      const record = await batchOf(store, { id: experiment.id, attempt, batch });
      if (row >= record.rows) {
        throw new EchelonError('invalid-request', `The batch has ${record.rows} rows.`, {
          problems: [{ field: 'row', message: `must be from 0 to ${record.rows - 1}` }],
        });
      }
      const work = onDemand(request, reply, async (asked) =>
        verifier.explain(await store.batches.bytes(record), { row, position }, asked),
      );
      const explanation = await recomputed(work, 'This batch cannot be explained');
      return { attempt, batch, step: record.step, row, explanation };
    },
  });
}
