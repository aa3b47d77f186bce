import { Type } from 'typebox';
import { ClusterChange } from '../../../schemas/clusters.ts';
import { strict } from '../../../schemas/strict.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { CHANGE, CREATE } from '../../server/policy.ts';
import { problems } from '../../server/responses.ts';
import { pauseBody, pauseBy, refuseBody } from '../common.ts';
import { clusterOf } from './begin-command.ts';
import { clusterView } from './cluster-views.ts';
import { refuseVariables } from './refuse-variables.ts';

const ClusterParams = Type.Object({ name: Type.String({ description: 'Name of the cluster' }) }, strict);

/** POST pause and resume of a cluster, PATCH /v1/clusters/:name. */
export function addClusterPauses(app: App, deps: RouteDeps): void {
  addPause(app, deps);
  addResume(app, deps);
  addChange(app, deps);
}

function addPause(app: App, deps: RouteDeps): void {
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

function addResume(app: App, deps: RouteDeps): void {
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

function addChange(app: App, deps: RouteDeps): void {
  const { store } = deps;
  app.patch(
    '/v1/clusters/:name',
    {
      config: { policy: { ...CHANGE, scope: 'admin', concurrency: 'cluster' } },
      schema: {
        operationId: 'changeCluster',
        summary:
          'Change the labels, backfill, code paths, environment variables or projects of secrets of a cluster',
        description:
          'Labels, code paths, variables and the list of secrets are replaced as a whole. Attempts that already run keep their variables. Omitted fields do not change. The values also remain after the next `clusters add`.',
        tags: ['clusters'],
        params: ClusterParams,
        body: ClusterChange,
        response: { 200: { $ref: 'Cluster#' }, ...problems('cluster-not-found') },
      },
    },
    async ({ params, body, readRevision }) => {
      const { name } = await clusterOf(store, params.name);
      if (body.env) refuseVariables(body.env);
      await store.clusters.set(name, body, readRevision);
      return clusterView(deps, await clusterOf(store, name));
    },
  );
}
