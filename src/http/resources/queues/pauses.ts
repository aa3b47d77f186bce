import { type Static, Type } from 'typebox';
import { EchelonError } from '../../../core/errors.ts';
import { nearestName } from '../../../core/nearest.ts';
import { ClusterChange } from '../../../schemas/clusters.ts';
import { strict } from '../../../schemas/strict.ts';
import type { Pause, QueueTarget } from '../../../store/queue/contract.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { CHANGE, CREATE } from '../../server/policy.ts';
import { problems } from '../../server/responses.ts';
import { clusterOf } from '../clusters/begin-command.ts';
import { clusterView } from '../clusters/cluster-views.ts';

/** Stands for all projects. No project's name begins with an underscore. */
const ALL_PROJECTS = '_all';

const QueueParams = Type.Object(
  {
    name: Type.String({ description: `A project's name, or ${ALL_PROJECTS} for the queue of all projects` }),
  },
  strict,
);
const ClusterParams = Type.Object({ name: Type.String({ description: "The cluster's name" }) }, strict);
const PauseBody = Type.Object(
  {
    reason: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Reason to show with the pause' }),
    ),
  },
  strict,
);
// By its type, so that a request without a body, which has none, is not held to the schema.
const pauseBody = { content: { 'application/json': { schema: PauseBody } } };

/** POST pause, close and resume of queues, pause and resume of clusters, PATCH /v1/clusters/:name. */
export function addPauses(app: App, deps: RouteDeps): void {
  addQueuePause(app, deps);
  addQueueClose(app, deps);
  addQueueResume(app, deps);
  addClusterPause(app, deps);
  addClusterResume(app, deps);
  addClusterChange(app, deps);
}

function addQueuePause(app: App, { store, clock }: RouteDeps): void {
  app.post(
    '/v1/queues/:name/pause',
    {
      config: { policy: { ...CREATE, scope: 'admin' } },
      schema: {
        operationId: 'pauseQueue',
        summary: 'Pause the queue of a project or of all projects',
        description:
          'No queued experiment starts until the queue is resumed. Submissions are still accepted, and running experiments continue. The request body is optional.',
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

function addQueueClose(app: App, { store, clock }: RouteDeps): void {
  app.post(
    '/v1/queues/:name/close',
    {
      config: { policy: { ...CREATE, scope: 'admin' } },
      schema: {
        operationId: 'closeQueue',
        summary: 'Close the queue of a project or of all projects',
        description:
          'The queue accepts no new experiments until it is resumed. Submissions, sweeps and re-runs get `queue-closed`. Queued experiments, children of accepted sweeps and further attempts still start. A repeated request with its Idempotency-Key gets the first response. The request body is optional.',
        tags: ['queue'],
        params: QueueParams,
        body: pauseBody,
        response: { 200: { $ref: 'QueuePause#' }, ...problems('project-not-found') },
      },
    },
    async ({ params, body, caller }) => {
      await store.queue.setClosed(await queueOf(store, params.name), pauseBy(caller, body, clock.now()));
      return queueState(store, params.name);
    },
  );
}

function addQueueResume(app: App, { store }: RouteDeps): void {
  app.post(
    '/v1/queues/:name/resume',
    {
      config: { policy: { ...CREATE, scope: 'admin' } },
      schema: {
        operationId: 'resumeQueue',
        summary: 'Resume a queue that was paused or closed',
        description: 'Has no effect if the queue is neither paused nor closed. The request has no body.',
        tags: ['queue'],
        params: QueueParams,
        response: { 200: { $ref: 'QueuePause#' }, ...problems('project-not-found') },
      },
    },
    async ({ params, body }) => {
      refuseBody(body);
      const target = await queueOf(store, params.name);
      await store.queue.setPaused(target, null);
      await store.queue.setClosed(target, null);
      return queueState(store, params.name);
    },
  );
}

function addClusterPause(app: App, deps: RouteDeps): void {
  const { store, clock } = deps;
  app.post(
    '/v1/clusters/:name/pause',
    {
      config: { policy: { ...CREATE, scope: 'admin' } },
      schema: {
        operationId: 'pauseCluster',
        summary: 'Pause a cluster',
        description:
          'No experiment starts on the cluster until it is resumed. Running experiments continue. Unlike a drain, a pause takes effect immediately and records a reason. The request body is optional.',
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
      config: { policy: { ...CREATE, scope: 'admin' } },
      schema: {
        operationId: 'resumeCluster',
        summary: 'Resume a cluster that was paused or drained',
        description: 'Has no effect if the cluster is neither paused nor draining. The request has no body.',
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
      config: { policy: { ...CHANGE, scope: 'admin', concurrency: 'cluster' } },
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
  const { all, projects, closed } = await store.queue.pauses();
  if (name === ALL_PROJECTS) return { queue: name, paused: all, closed: closed.all };
  return { queue: name, paused: projects.get(name) ?? null, closed: closed.projects.get(name) ?? null };
}

async function queueOf(store: RouteDeps['store'], name: string): Promise<QueueTarget> {
  if (name === ALL_PROJECTS) return { kind: 'all' };
  const known = (await store.projects.list()).map((project) => project.name);
  if (known.includes(name)) return { kind: 'project', name };
  const near = nearestName(name, [...known, ALL_PROJECTS]);
  throw new EchelonError(
    'project-not-found',
    `There is no project ${name.slice(0, 70)}.${near === undefined ? ` ${ALL_PROJECTS} means all projects.` : ` Did you mean ${near}?`}`,
  );
}
