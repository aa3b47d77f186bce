import { Type } from 'typebox';
import { strict } from '../../../schemas/strict.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { accepted, beginCommand, clusterOf } from './begin-command.ts';

const ClusterParams = Type.Object({ name: Type.String({ description: 'Name of the cluster' }) }, strict);

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
