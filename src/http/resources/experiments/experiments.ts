import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { EchelonError } from '../../../core/errors.ts';
import { METRIC_NAME } from '../../../core/metric-name.ts';
import { STATES } from '../../../core/states.ts';
import { validateSpec } from '../../../engines/validate-spec.ts';
import { CountOf } from '../../../schemas/answer-parts.ts';
import type { Accepted } from '../../../schemas/api.ts';
import { canonicalJson } from '../../../schemas/json.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import { text } from '../../../schemas/optional-fields.ts';
import { DEFAULT_PROJECT } from '../../../schemas/project.ts';
import { Tag } from '../../../schemas/spec-parts.ts';
import {
  type ExperimentFilter,
  type ExperimentOrder,
  SORT_FIELDS,
} from '../../../store/experiments/types.ts';
import { listedProject } from '../../access/caller-projects.ts';
import { auditEntry } from '../../server/audit.ts';
import { createCursors } from '../../server/cursor.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { revisionToChange } from '../../server/etag.ts';
import { idempotencyOf } from '../../server/idempotency.ts';
import { located } from '../../server/operation.ts';
import { route } from '../../server/route.ts';
import { withSilence } from '../clusters/cluster-views.ts';
import {
  CancelBody,
  cancelReason,
  ExperimentParams,
  experimentOf,
  NEW_WORK_REFUSALS,
  notFound,
  PageQuery,
  ProjectQuery,
  SPEC_BODY,
} from '../common.ts';
import { acceptExperiment, type Submission } from './accept-experiment.ts';
import { removeJobs } from './enqueue.ts';
import { experimentDetail } from './experiment-detail.ts';

/** What an accepted experiment is answered. */
const ACCEPTED = {
  202: located('Accepted; the experiment is queued.', 'Accepted', 'Path of the experiment.'),
};

const ListQuery = StrictObject({
  ...PageQuery,
  state: Type.Optional(
    Type.Array(Type.Enum([...STATES], { type: 'string' }), {
      maxItems: STATES.length,
      description: 'Return only experiments in one of these states, separated by commas or repeated.',
    }),
  ),
  ...ProjectQuery,
  sweep: Type.Optional(Type.String({ maxLength: 63, description: 'Return only children of this sweep.' })),
  id: Type.Optional(
    Type.String({ pattern: '^exp-[0-9a-z]{1,20}$', maxLength: 24, description: 'Prefix of the id.' }),
  ),
  name: text(1, 100, 'Prefix of the name. It is case-sensitive.'),
  search: text(
    1,
    100,
    'Text within the id, the name, the note or a tag. The case of ASCII letters is ignored.',
  ),
  tag: Type.Optional(Tag),
  sort: Type.Optional(
    Type.String({
      pattern: `^-?(submitted|active|${Object.keys(SORT_FIELDS).join('|')}|metric:${METRIC_NAME.slice(1, -1)})$`,
      description:
        'Order of the list; a leading `-` puts the largest value first. `active`: running experiments, then queued, then ended ones. `metric:NAME`: latest value of a metric. `wrong`: number of wrong rows. Experiments without the value come last. Default: `-submitted`.',
    }),
  ),
  outcome: Type.Optional(
    Type.Enum(['wrong', 'unverifiable', 'rounding'], {
      type: 'string',
      description:
        'Return only experiments with at least one row of this outcome. `wrong`: only those with a wrong training signal, also of batches that contradict themselves or their parameters.',
    }),
  ),
  estimator: text(
    1,
    200,
    'Prefix of the fingerprint of the estimator, such as `hgpo(`. It is case-sensitive.',
  ),
  submittedFrom: Type.Optional(
    CountOf('Return only experiments submitted at or after this time, in ms since 1970.'),
  ),
  submittedBefore: Type.Optional(
    CountOf('Return only experiments submitted before this time, in ms since 1970.'),
  ),
});

/** POST and GET /v1/experiments, GET and DELETE one, POST its rerun and its cancel. */
export function addExperiments(app: App, deps: RouteDeps): void {
  addSubmit(app, deps);
  addRerun(app, deps);
  addDelete(app, deps);
  addRead(app, deps);
  addList(app, deps);
  addCancel(app, deps);
}

/** Accepts what a request asks for; its entry of the audit log is written with it. */
async function accept(
  deps: RouteDeps,
  request: FastifyRequest,
  asked: Pick<Submission, 'spec' | 'rerunOf'>,
): Promise<Accepted> {
  const { accepted } = await acceptExperiment(deps, {
    ...asked,
    caller: request.caller,
    idempotency: idempotencyOf(request),
    audit: (id) => auditEntry(request, { status: 202, target: id }),
  });
  // A repetition does nothing, and the first request has an audit entry.
  request.audited = true;
  return accepted;
}

function addSubmit(app: App, deps: RouteDeps): void {
  route(app, {
    at: 'POST /v1/experiments',
    operationId: 'submitExperiment',
    idempotency: 'own',
    timeout: 'store',
    summary: 'Submit an experiment',
    description:
      'Status 202 means that the experiment is stored durably. If the response is lost, repeat the request with its Idempotency-Key.',
    tag: 'experiments',
    ...SPEC_BODY,
    answers: ACCEPTED,
    problems: [...NEW_WORK_REFUSALS],
    handler: async (request, reply) => {
      const answer = await accept(deps, request, { spec: request.body });
      return reply.code(202).header('location', answer.self).send(answer);
    },
  });
}

function addRerun(app: App, deps: RouteDeps): void {
  route(app, {
    at: 'POST /v1/experiments/:id/rerun',
    operationId: 'rerunExperiment',
    idempotency: 'own',
    summary: 'Run an experiment again as a new one',
    body: null,
    description:
      'Submits the original spec again as a new experiment, which starts from the beginning. Its field `rerunOf` has the id of the old one. The request has no body.',
    tag: 'experiments',
    params: ExperimentParams,
    answers: ACCEPTED,
    problems: ['not-found', ...NEW_WORK_REFUSALS],
    handler: async (request, reply) => {
      const { id, submitted, project } = await experimentOf(deps.store, request, request.params.id);
      const answer = await accept(deps, request, {
        // Without a project in the spec, the project depends on the caller.
        spec: { ...validateSpec(submitted), ...(project !== DEFAULT_PROJECT && { project }) },
        rerunOf: id,
      });
      return reply.code(202).header('location', answer.self).send(answer);
    },
  });
}

function addDelete(app: App, { store }: RouteDeps): void {
  route(app, {
    at: 'DELETE /v1/experiments/:id',
    operationId: 'deleteExperiment',
    concurrency: 'experiment',
    summary: 'Delete an experiment that has ended',
    description:
      'Deletes the experiment with its events, metrics, batches and reports. Its event logs on the cluster are deleted later; its checkpoints remain. The counts of its sweep do not change.',
    tag: 'experiments',
    params: ExperimentParams,
    answers: {
      204: { description: 'Deleted.', type: 'null' },
    },
    problems: ['not-found', 'not-ended'],
    handler: async (request, reply) => {
      const { id, state } = await experimentOf(store, request, request.params.id);
      const revision = await revisionToChange(store, request, { kind: 'experiment', name: id });
      const outcome = await store.experiments.delete(id, revision);
      if (outcome === 'not-found') throw notFound(id);
      if (outcome === 'not-ended') {
        throw new EchelonError(
          'not-ended',
          `The experiment is ${state}; cancel it, and delete it when it has ended.`,
        );
      }
      return reply.code(204).send(null);
    },
  });
}

function addRead(app: App, deps: RouteDeps): void {
  route(app, {
    at: 'GET /v1/experiments/:id',
    operationId: 'getExperiment',
    concurrency: 'experiment',
    summary: 'Get an experiment',
    description:
      'Returns the state, the spec and, while queued, the position in the queue. If the cluster does not respond, `reason` says so first and since when.',
    tag: 'experiments',
    params: ExperimentParams,
    answer: 'ExperimentDetail',
    problems: ['not-found'],
    handler: async (request) =>
      experimentDetail(deps, await experimentOf(deps.store, request, request.params.id), request.caller),
  });
}

function addList(app: App, deps: RouteDeps): void {
  const { store, settings } = deps;
  const cursors = createCursors(settings.cookieSecret);
  route(app, {
    at: 'GET /v1/experiments',
    operationId: 'listExperiments',
    summary: 'List experiments',
    description:
      'With a filter by text, tag, outcome or estimator, a page can have fewer than `limit` items, or none, and still have a `next`. An order by a value sorts the newest 10,000 experiments that match, and `sorted` has their number. The order is that of the first page, so each experiment is on one page; a cursor is valid for an hour.',
    tag: 'experiments',
    querystring: ListQuery,
    answer: 'ExperimentPage',
    problems: ['invalid-cursor'],
    handler: async (request) => {
      const {
        cursor,
        limit = 50,
        sort = '-submitted',
        id,
        name,
        estimator,
        project: asked,
        ...query
      } = request.query;
      const project = listedProject(request.caller, asked);
      const filter: ExperimentFilter = {
        ...query,
        ...(id !== undefined && { idPrefix: id }),
        ...(name !== undefined && { namePrefix: name }),
        ...(estimator !== undefined && { fingerprintPrefix: estimator }),
        ...(project && { project }),
      };
      const order = {
        by: sort.replace(/^-/, '') as ExperimentOrder['by'],
        isDescending: sort.startsWith('-'),
      };
      const scope = `experiments ${canonicalJson({ ...filter, ...order })}`;
      const before = cursor === undefined ? {} : { before: cursors.open(scope, cursor) };
      const page = await store.experiments.list(
        { ...filter, ...before, limit, reader: request.caller.id },
        order,
      );
      const items = await withSilence(deps, page.items);
      const next = page.next === null ? null : cursors.seal(scope, page.next);
      return { items, next, sorted: page.sorted };
    },
  });
}

function addCancel(app: App, deps: RouteDeps): void {
  const { store } = deps;
  route(app, {
    at: 'POST /v1/experiments/:id/cancel',
    operationId: 'cancelExperiment',
    summary: 'Cancel an experiment',
    description:
      'No new attempt starts after this response. A running attempt is stopped; the state is `cancelling` until its end is confirmed. The request body is optional.',
    tag: 'experiments',
    params: ExperimentParams,
    optionalBody: CancelBody,
    examples: { reason: { reason: 'the wrong seed' } },
    answers: {
      202: { $ref: 'ExperimentDetail#' },
    },
    problems: ['not-found', 'already-final'],
    handler: async (request, reply) => {
      const { id } = request.params;
      await experimentOf(store, request, id);
      const outcome = await store.experiments.cancel(id, cancelReason(request.body));
      if (outcome === 'not-found') throw notFound(id);
      if (outcome === 'already-final') {
        throw new EchelonError(
          'already-final',
          'The experiment has already ended; there is nothing to cancel.',
        );
      }
      if (outcome === 'cancelled') removeJobs(deps, [id]);
      const experiment = await experimentOf(store, request, id);
      return reply.code(202).send(await experimentDetail(deps, experiment, request.caller));
    },
  });
}
