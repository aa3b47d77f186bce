import { type Static, Type } from 'typebox';
import { EchelonError } from '../../core/errors.ts';
import { nearestName } from '../../core/nearest.ts';
import { ClusterChange } from '../../schemas/clusters.ts';
import { strict } from '../../schemas/strict.ts';
import type { Pause, QueueTarget } from '../../store/queue/contract.ts';
import { clusterOf } from '../begin-command.ts';
import { clusterView } from '../cluster-views.ts';
import type { App, RouteDeps } from '../server/deps.ts';
import { problems } from '../server/responses.ts';

/** In place of a project's name, which never begins so: the whole line. */
const WHOLE_LINE = '_all';

const QueueParams = Type.Object(
  {
    name: Type.String({ description: `A project's name: its queue; ${WHOLE_LINE}: the whole line` }),
  },
  strict,
);
const ClusterParams = Type.Object({ name: Type.String({ description: "The cluster's name" }) }, strict);
const PauseBody = Type.Object(
  { reason: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Shown with it' })) },
  strict,
);
// By its type, so that a request without a body, which has none, is not held to the schema.
const pauseBody = { content: { 'application/json': { schema: PauseBody } } };

/** POST pause, drain and resume of queues, pause and resume of clusters, PATCH /v1/clusters/:name. */
export function addPauses(app: App, deps: RouteDeps): void {
  addQueuePause(app, deps);
  addQueueDrain(app, deps);
  addQueueResume(app, deps);
  addClusterPause(app, deps);
  addClusterResume(app, deps);
  addClusterChange(app, deps);
}

function addQueuePause(app: App, { store, clock }: RouteDeps): void {
  app.post(
    '/v1/queues/:name/pause',
    {
      config: { scope: 'admin' },
      schema: {
        operationId: 'pauseQueue',
        summary: 'Let nothing new start, of a project or at all',
        description:
          'Submitting goes on, and so does what runs. A start that was decided before this answer is refused after it. The body may be left out.',
        tags: ['queue'],
        params: QueueParams,
        body: pauseBody,
        response: { 200: { $ref: 'QueuePause#' }, ...problems('project-not-found') },
      },
    },
    async ({ params, body, caller }) => {
      const target = await queueOf(store, params.name);
      const pause = pauseBy(caller, body, clock.now());
      await store.queue.setPaused(target, pause);
      return queueState(store, params.name);
    },
  );
}

function addQueueDrain(app: App, { store, clock }: RouteDeps): void {
  app.post(
    '/v1/queues/:name/drain',
    {
      config: { scope: 'admin' },
      schema: {
        operationId: 'drainQueue',
        summary: 'Accept nothing new, of a project or at all',
        description:
          'Who waits still starts, children of accepted sweeps and further attempts included. Submissions, sweeps and re-runs are answered `queue-draining`; one that repeats an accepted request with its Idempotency-Key is answered as before. The body may be left out.',
        tags: ['queue'],
        params: QueueParams,
        body: pauseBody,
        response: { 200: { $ref: 'QueuePause#' }, ...problems('project-not-found') },
      },
    },
    async ({ params, body, caller }) => {
      await store.queue.setDrained(await queueOf(store, params.name), pauseBy(caller, body, clock.now()));
      return queueState(store, params.name);
    },
  );
}

function addQueueResume(app: App, { store }: RouteDeps): void {
  app.post(
    '/v1/queues/:name/resume',
    {
      config: { scope: 'admin' },
      schema: {
        operationId: 'resumeQueue',
        summary: 'End the pause and the drain of a queue',
        description: 'Where it is neither paused nor drained, nothing is changed. Takes no body.',
        tags: ['queue'],
        params: QueueParams,
        response: { 200: { $ref: 'QueuePause#' }, ...problems('project-not-found') },
      },
    },
    async ({ params, body }) => {
      refuseBody(body);
      const target = await queueOf(store, params.name);
      await store.queue.setPaused(target, null);
      await store.queue.setDrained(target, null);
      return queueState(store, params.name);
    },
  );
}

function addClusterPause(app: App, deps: RouteDeps): void {
  const { store, clock } = deps;
  app.post(
    '/v1/clusters/:name/pause',
    {
      config: { scope: 'admin' },
      schema: {
        operationId: 'pauseCluster',
        summary: 'Let nothing new start on a cluster, at once',
        description:
          'As a drain, but at once and with a reason; what runs there goes on. The body may be left out.',
        tags: ['clusters'],
        params: ClusterParams,
        body: pauseBody,
        response: { 200: { $ref: 'Cluster#' }, ...problems('cluster-not-found') },
      },
    },
    async ({ params, body, caller }) => {
      const { name } = await clusterOf(store, params.name);
      await store.queue.setPaused({ kind: 'cluster', name }, pauseBy(caller, body, clock.now()));
      return clusterView(deps, await clusterOf(store, name));
    },
  );
}

function addClusterResume(app: App, deps: RouteDeps): void {
  const { store } = deps;
  app.post(
    '/v1/clusters/:name/resume',
    {
      config: { scope: 'admin' },
      schema: {
        operationId: 'resumeCluster',
        summary: 'End the pause or the drain of a cluster',
        description: 'Where it is neither paused nor draining, nothing is changed. Takes no body.',
        tags: ['clusters'],
        params: ClusterParams,
        response: { 200: { $ref: 'Cluster#' }, ...problems('cluster-not-found') },
      },
    },
    async ({ params, body }) => {
      refuseBody(body);
      const { name } = await clusterOf(store, params.name);
      await store.queue.setPaused({ kind: 'cluster', name }, null);
      await store.clusters.setDraining(name, false);
      return clusterView(deps, await clusterOf(store, name));
    },
  );
}

function addClusterChange(app: App, deps: RouteDeps): void {
  const { store } = deps;
  app.patch(
    '/v1/clusters/:name',
    {
      config: { scope: 'admin' },
      schema: {
        operationId: 'changeCluster',
        summary: 'Change the labels of a cluster, whether it backfills, or from where specs may load code',
        description:
          'Labels and code paths are replaced as a whole. What is left out stays as it is; what is set stays over the next `clusters add`.',
        tags: ['clusters'],
        params: ClusterParams,
        body: ClusterChange,
        response: { 200: { $ref: 'Cluster#' }, ...problems('cluster-not-found') },
      },
    },
    async ({ params, body, readRevision }) => {
      const { name } = await clusterOf(store, params.name);
      await store.clusters.set(name, body, readRevision);
      return clusterView(deps, await clusterOf(store, name));
    },
  );
}

function pauseBy({ name }: { name: string }, body: unknown, at: number): Pause {
  const { reason } = (body ?? {}) as Static<typeof PauseBody>;
  return { by: name, at, reason: reason ?? null };
}

function refuseBody(body: unknown): void {
  if (body !== undefined) throw new EchelonError('invalid-request', 'This request takes no body.');
}

async function queueState(store: RouteDeps['store'], name: string) {
  const { line, projects, draining } = await store.queue.pauses();
  if (name === WHOLE_LINE) return { queue: name, paused: line, draining: draining.line };
  return { queue: name, paused: projects.get(name) ?? null, draining: draining.projects.get(name) ?? null };
}

async function queueOf(store: RouteDeps['store'], name: string): Promise<QueueTarget> {
  if (name === WHOLE_LINE) return { kind: 'line' };
  const known = (await store.projects.list()).map((project) => project.name);
  if (known.includes(name)) return { kind: 'project', name };
  const near = nearestName(name, [...known, WHOLE_LINE]);
  throw new EchelonError(
    'project-not-found',
    `There is no project ${name.slice(0, 70)}.${near === undefined ? ` ${WHOLE_LINE} is the whole line.` : ` Did you mean ${near}?`}`,
  );
}
