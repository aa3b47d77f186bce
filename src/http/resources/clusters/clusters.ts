import { EchelonError } from '../../../core/errors.ts';
import { AddCluster } from '../../../schemas/clusters.ts';
import { seenClusters } from '../../access/caller-projects.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { revisionToChange } from '../../server/etag.ts';
import { route } from '../../server/route.ts';
import { accepted, beginCommand, ClusterParams, clusterOf, refuseVariables } from './begin-command.ts';
import { clusterView, clusterViews } from './cluster-views.ts';

/** GET and POST /v1/clusters, GET and DELETE one, POST its drain. */
export function addClusters(app: App, deps: RouteDeps): void {
  addReads(app, deps);
  addAdd(app, deps);
  addDrain(app, deps);
  addRemove(app, deps);
}

function addReads(app: App, deps: RouteDeps): void {
  route(app, {
    at: 'GET /v1/clusters',
    operationId: 'listClusters',
    summary: 'List clusters with their capacity',
    description:
      'Sorted by name. `used` includes experiments and other Ray jobs; `allocated` includes experiments that Ray does not show yet; `free` is what neither counts. A key that is bound to a project sees only the experiments of that project.',
    tag: 'clusters',
    answer: 'ClusterList',
    handler: async ({ caller }) => ({
      items: await seenClusters(deps.store, caller, await clusterViews(deps)),
    }),
  });

  route(app, {
    at: 'GET /v1/clusters/:name',
    operationId: 'getCluster',
    concurrency: 'cluster',
    summary: 'Get a cluster',
    description: 'Returns the resources (total, used, allocated) and whether the ray-worker answers.',
    tag: 'clusters',
    params: ClusterParams,
    answer: 'Cluster',
    problems: ['cluster-not-found'],
    handler: async ({ caller, params }) => {
      const view = await clusterView(deps, await clusterOf(deps.store, params.name));
      return (await seenClusters(deps.store, caller, [view]))[0]!;
    },
  });
}

function addAdd(app: App, deps: RouteDeps): void {
  route(app, {
    at: 'POST /v1/clusters',
    operationId: 'addCluster',
    scope: 'admin',
    summary: 'Add or update a Ray cluster',
    description:
      "The cluster needs no installation. A dispatcher connects to Ray's client server and starts the ray-worker, or replaces an older one, whose experiments continue. Then it checks that the ray-worker is reachable. Adding a cluster ends its draining.",
    tag: 'clusters',
    body: AddCluster,
    secrets: 'expected',
    answers: accepted,
    problems: ['store-full'],
    handler: async (request, reply) => {
      const { name, address, token, tls, sharedRoot, node, port, advertise, backfill } = request.body;
      const { labels, env, storage, nodeTypes } = request.body;
      if (env) refuseVariables(env);
      request.auditTarget = name;
      const command = await beginCommand(deps, name, 'add', {
        request: {
          address,
          sharedRoot,
          node: node ?? null,
          port: port ?? null,
          advertise: advertise ?? null,
          backfill: backfill ?? false,
          ...(labels && { labels }),
          ...(env && { env }),
          ...(storage && { storage }),
          ...(nodeTypes && { nodeTypes }),
        },
        secret: JSON.stringify({ token: token ?? null, tls: tls ?? null }),
      });
      return reply.code(202).header('location', `/v1/commands/${command.id}`).send(command);
    },
  });
}

function addDrain(app: App, deps: RouteDeps): void {
  route(app, {
    at: 'POST /v1/clusters/:name/drain',
    operationId: 'drainCluster',
    scope: 'admin',
    summary: 'Drain a cluster',
    body: null,
    description:
      'No experiment starts on the cluster. Running experiments continue to their end. Resuming or adding the cluster ends the drain. The request has no body.',
    tag: 'clusters',
    params: ClusterParams,
    answers: accepted,
    problems: ['cluster-not-found'],
    handler: async (request, reply) => {
      const { name } = await clusterOf(deps.store, request.params.name);
      request.auditTarget = name;
      const command = await beginCommand(deps, name, 'drain');
      return reply.code(202).header('location', `/v1/commands/${command.id}`).send(command);
    },
  });
}

function addRemove(app: App, deps: RouteDeps): void {
  route(app, {
    at: 'DELETE /v1/clusters/:name',
    operationId: 'removeCluster',
    scope: 'admin',
    concurrency: 'cluster',
    summary: 'Remove an idle cluster and stop its ray-worker',
    description:
      'A repeated request returns the running command. Experiments that name the cluster stay queued. An experiment whose checkpoint is there starts from its first step on another cluster.',
    tag: 'clusters',
    params: ClusterParams,
    answers: accepted,
    problems: ['cluster-not-found', 'cluster-busy'],
    handler: async (request, reply) => {
      const { name } = await clusterOf(deps.store, request.params.name);
      const ifRevision = await revisionToChange(deps.store, request, { kind: 'cluster', name });
      const { items } = await deps.store.clusters.allocations(name);
      if (items.length > 0) {
        const what = items
          .map((item) => item.experiment)
          .slice(0, 5)
          .join(', ');
        throw new EchelonError(
          'cluster-busy',
          `${name} runs ${what}${items.length > 5 ? `, and ${items.length - 5} more` : ''}. Drain the cluster and wait, or cancel its experiments.`,
        );
      }
      request.auditTarget = name;
      const command = await beginCommand(deps, name, 'remove', { ifRevision });
      return reply.code(202).header('location', `/v1/commands/${command.id}`).send(command);
    },
  });
}

/** POST /v1/clusters/:name/preflight. */
export function addClusterPreflight(app: App, deps: RouteDeps): void {
  route(app, {
    at: 'POST /v1/clusters/:name/preflight',
    operationId: 'preflightCluster',
    scope: 'admin',
    summary: 'Check a cluster: its nodes, shared directory and packages',
    description:
      'Checks the nodes, their shared directory and the installed packages. Allocates no GPU. The request has no body.',
    tag: 'clusters',
    params: ClusterParams,
    answers: accepted,
    problems: ['cluster-not-found'],
    body: null,
    handler: async (request, reply) => {
      const { name } = await clusterOf(deps.store, request.params.name);
      request.auditTarget = name;
      const command = await beginCommand(deps, name, 'preflight');
      return reply.code(202).header('location', `/v1/commands/${command.id}`).send(command);
    },
  });
}
