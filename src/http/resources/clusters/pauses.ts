import { ClusterChange } from '../../../schemas/clusters.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { revisionToChange } from '../../server/etag.ts';
import { route } from '../../server/route.ts';
import { PauseBody, pauseBy } from '../common.ts';
import { ClusterParams, clusterOf, refuseStores, refuseVariables } from './begin-command.ts';
import { clusterView } from './cluster-views.ts';

/** POST pause and resume of a cluster, PATCH /v1/clusters/:name. */
export function addClusterPauses(app: App, deps: RouteDeps): void {
  addPause(app, deps);
  addResume(app, deps);
  addChange(app, deps);
}

function addPause(app: App, deps: RouteDeps): void {
  const { store, clock } = deps;
  route(app, {
    at: 'POST /v1/clusters/:name/pause',
    operationId: 'pauseCluster',
    scope: 'admin',
    summary: 'Pause a cluster',
    description:
      'No experiment starts on the cluster until it is resumed. Running experiments continue. Unlike a drain, a pause takes effect immediately and records a reason. The request body is optional.',
    tag: 'clusters',
    params: ClusterParams,
    optionalBody: PauseBody,
    answer: 'Cluster',
    problems: ['cluster-not-found'],
    handler: async ({ params, body, caller }) => {
      const { name } = await clusterOf(store, params.name);
      await store.queue.setPaused({ kind: 'cluster', name }, pauseBy(caller, body, clock.now()));
      return clusterView(deps, await clusterOf(store, name));
    },
  });
}

function addResume(app: App, deps: RouteDeps): void {
  const { store } = deps;
  route(app, {
    at: 'POST /v1/clusters/:name/resume',
    operationId: 'resumeCluster',
    scope: 'admin',
    summary: 'Resume a cluster that was paused or drained',
    body: null,
    description: 'Has no effect if the cluster is neither paused nor draining. The request has no body.',
    tag: 'clusters',
    params: ClusterParams,
    answer: 'Cluster',
    problems: ['cluster-not-found'],
    handler: async ({ params }) => {
      const { name } = await clusterOf(store, params.name);
      await store.queue.setPaused({ kind: 'cluster', name }, null);
      await store.clusters.setDraining(name, false);
      return clusterView(deps, await clusterOf(store, name));
    },
  });
}

function addChange(app: App, deps: RouteDeps): void {
  const { store } = deps;
  route(app, {
    at: 'PATCH /v1/clusters/:name',
    operationId: 'changeCluster',
    scope: 'admin',
    concurrency: 'cluster',
    summary:
      'Change the labels, backfill, code paths, object stores, environment variables, projects of secrets, storage or node types of a cluster',
    description:
      'Labels, code paths, object stores, variables, the list of secrets and node types are replaced as a whole. Attempts that already run keep their variables. Omitted fields do not change. The values also remain after the next `clusters add`.',
    tag: 'clusters',
    params: ClusterParams,
    body: ClusterChange,
    answer: 'Cluster',
    problems: ['cluster-not-found'],
    handler: async (request) => {
      const { params, body } = request;
      const { name } = await clusterOf(store, params.name);
      const revision = await revisionToChange(store, request, { kind: 'cluster', name });
      if (body.env) refuseVariables(body.env);
      if (body.checkpointStores) refuseStores(body.checkpointStores);
      await store.clusters.set(name, body, revision);
      return clusterView(deps, await clusterOf(store, name));
    },
  });
}
