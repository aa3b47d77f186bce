import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Static, Type } from 'typebox';
import { EchelonError } from '../../core/errors.ts';
import { newExperimentId } from '../../core/ids.ts';
import { STATES } from '../../core/states.ts';
import { resolveSpec } from '../../plan/resolve-spec.ts';
import type { Accepted, ExperimentDetail } from '../../schemas/api.ts';
import type { Experiment } from '../../schemas/experiment.ts';
import { canonicalJson } from '../../schemas/json.ts';
import { nearestName } from '../../schemas/nearest.ts';
import type { ExperimentSpec, ResolvedSpec } from '../../schemas/spec.ts';
import { invalidSpec } from '../../schemas/validate-spec.ts';
import type { Store } from '../../store/store.ts';
import { type ClusterViewDeps, withSilence } from '../cluster-views.ts';
import { createCursors } from '../cursor.ts';
import type { App, RouteDeps } from '../deps.ts';
import { fingerprintOf } from '../fingerprint-of.ts';
import { problems } from '../responses.ts';
import { ExperimentParams, experimentOf, notFound, strict } from './common.ts';

/** An accepted request waits this long for its job; what takes longer goes on by itself. */
const JOIN_MS = 200;

const SpecBody = Type.Unsafe<ExperimentSpec>({ $ref: 'ExperimentSpec#' });

const IdempotencyKey = Type.Optional(
  Type.String({
    pattern: '^[\\x21-\\x7e]{1,255}$',
    description: 'A request that is repeated with its key and body is answered as the first one was',
  }),
);

const ListQuery = Type.Object(
  {
    cursor: Type.Optional(Type.String({ maxLength: 1000 })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: '50 where it is left out' })),
    state: Type.Optional(Type.Enum([...STATES], { type: 'string' })),
    project: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
  },
  strict,
);

const CancelBody = Type.Object(
  {
    reason: Type.Optional(
      Type.String({ maxLength: 200, description: 'Why, for whoever reads the state; kept with it' }),
    ),
  },
  strict,
);

/** POST and GET /v1/experiments, GET one, POST its cancel. */
export function addExperiments(app: App, deps: RouteDeps): void {
  addSubmit(app, deps);
  addRead(app, deps);
  addList(app, deps);
  addCancel(app, deps);
}

function addSubmit(app: App, deps: RouteDeps): void {
  app.post(
    '/v1/experiments',
    {
      schema: {
        operationId: 'submitExperiment',
        summary: 'Submit an experiment',
        description:
          'An answer of 202 means that it is on disk. Where the answer is lost, repeat it with its key.',
        tags: ['experiments'],
        headers: Type.Object({ 'idempotency-key': IdempotencyKey }),
        body: SpecBody,
        response: {
          202: {
            description: 'Accepted; it waits in the line',
            headers: { Location: { type: 'string', description: 'Path of the experiment' } },
            content: { 'application/json': { schema: { $ref: 'Accepted#' } } },
          },
          ...problems(
            'invalid-spec',
            'idempotency-conflict',
            'body-too-large',
            'unsupported-media-type',
            'store-full',
            'store-unfit',
          ),
        },
      },
    },
    async (request, reply) => {
      const resolved = resolveSpec(request.body);
      await requireCluster(deps.store, resolved.spec.cluster);
      const key = request.headers['idempotency-key'];
      const { id, created } = await submit(deps.store, { spec: request.body, resolved, key });
      if (created) await join(deps, id, resolved.spec.priority);
      const self = `/v1/experiments/${id}`;
      const accepted: Accepted = { id, self, events: `${self}/events` };
      return reply.code(202).header('location', self).send(accepted);
    },
  );
}

function submit(
  store: Store,
  input: { spec: ExperimentSpec; resolved: ResolvedSpec; key: string | undefined },
) {
  const { spec, resolved, key } = input;
  return store.submit({
    id: newExperimentId(),
    project: resolved.spec.project,
    name: resolved.spec.name,
    priority: resolved.spec.priority,
    cluster: resolved.spec.cluster,
    gpus: resolved.spec.resources.gpus,
    cpus: resolved.spec.resources.cpus,
    submitted: spec,
    resolved: resolved.spec,
    defaults: resolved.defaults,
    fingerprint: fingerprintOf(resolved.spec),
    ...(key === undefined
      ? {}
      : { idempotency: { key, digest: createHash('sha256').update(canonicalJson(spec)).digest('hex') } }),
  });
}

/** A name that no cluster has would wait for ever: it is refused, with the nearest one. */
async function requireCluster(store: Store, name: string | null): Promise<void> {
  if (name === null) return;
  const known = (await store.clusters()).map((cluster) => cluster.name);
  if (known.includes(name)) return;
  const near = nearestName(name, known);
  const hint = near ? `did you mean ${near}?` : `known: ${known.join(', ') || 'none'}; leave it out for any`;
  throw invalidSpec([{ field: '/cluster', message: `is not the name of a cluster; ${hint}` }]);
}

/**
 * The experiment is accepted already: a job that fails or takes its time is no reason to say otherwise, since the
 * reconciler gives a job to everyone who waits without one.
 */
async function join({ line, log }: RouteDeps, id: string, priority: number): Promise<void> {
  const settled = (async () => line.join(id, priority))().catch((err: unknown) => {
    log.warn({ err, experiment: id }, 'no job yet for an accepted experiment; the reconciler adds it');
  });
  await Promise.race([settled, pause(JOIN_MS, undefined, { ref: false })]);
}

function addRead(app: App, deps: RouteDeps): void {
  app.get(
    '/v1/experiments/:id',
    {
      schema: {
        operationId: 'getExperiment',
        summary: 'One experiment',
        tags: ['experiments'],
        params: ExperimentParams,
        response: { 200: { $ref: 'ExperimentDetail#' }, ...problems('not-found') },
      },
    },
    async (request) => detail(deps, await experimentOf(deps.store, request, request.params.id)),
  );
}

async function detail(
  deps: ClusterViewDeps & { store: Pick<Store, 'position'> },
  experiment: Experiment,
): Promise<ExperimentDetail> {
  const { store } = deps;
  if (experiment.state !== 'queued') {
    const [shown] = await withSilence(deps, [experiment]);
    return { ...shown!, position: null };
  }
  const { rank, length } = await store.position(experiment.id);
  return { ...experiment, position: rank === null ? null : { rank, length } };
}

function addList(app: App, deps: RouteDeps): void {
  const { store, settings } = deps;
  const cursors = createCursors(settings.cookieSecret);
  app.get(
    '/v1/experiments',
    {
      schema: {
        operationId: 'listExperiments',
        summary: 'Experiments, newest first',
        tags: ['experiments'],
        querystring: ListQuery,
        response: { 200: { $ref: 'ExperimentPage#' }, ...problems('invalid-cursor') },
      },
    },
    async (request) => {
      const { cursor, limit = 50, state, project } = request.query;
      const filter = { ...(state && { state }), ...(project && { project }) };
      const scope = `experiments ${canonicalJson(filter)}`;
      const before = cursor === undefined ? {} : { before: cursors.open(scope, cursor) };
      const page = await store.list({ ...filter, ...before, limit });
      const items = await withSilence(deps, page.items);
      return { items, next: page.next === null ? null : cursors.seal(scope, page.next) };
    },
  );
}

function addCancel(app: App, deps: RouteDeps): void {
  const { store } = deps;
  app.post(
    '/v1/experiments/:id/cancel',
    {
      schema: {
        operationId: 'cancelExperiment',
        summary: 'Cancel an experiment',
        description:
          'From this answer on no new attempt starts. A running one is stopped: `cancelling` until its end is confirmed. The body may be left out.',
        tags: ['experiments'],
        params: ExperimentParams,
        // By its type, so that a request without a body, which has none, is not held to the schema.
        body: { content: { 'application/json': { schema: CancelBody } } },
        response: { 202: { $ref: 'ExperimentDetail#' }, ...problems('not-found', 'already-final') },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const { reason } = (request.body ?? {}) as Static<typeof CancelBody>;
      await experimentOf(store, request, id);
      const outcome = await store.cancel(id, `cancelled by request${reason ? `: ${reason}` : ''}`);
      if (outcome === 'not-found') throw notFound(id);
      if (outcome === 'already-final') {
        throw new EchelonError(
          'already-final',
          'The experiment has already ended; there is nothing to cancel.',
        );
      }
      await detail(deps, await experimentOf(store, request, id)).then((answer) => reply.code(202).send(answer));
      return reply;
    },
  );
}
