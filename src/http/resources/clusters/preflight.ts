import { Type } from 'typebox';
import { EchelonError } from '../../../core/errors.ts';
import { strict } from '../../../schemas/strict.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { CREATE } from '../../server/policy.ts';
import { problems } from '../../server/responses.ts';
import { accepted, beginCommand, clusterOf } from './begin-command.ts';

const ClusterParams = Type.Object({ name: Type.String({ description: 'Name of the cluster' }) }, strict);

/** POST /v1/clusters/:name/preflight. */
export function addClusterPreflight(app: App, deps: RouteDeps): void {
  app.post(
    '/v1/clusters/:name/preflight',
    {
      config: { policy: { ...CREATE, scope: 'admin' } },
      schema: {
        operationId: 'preflightCluster',
        summary: 'Check a cluster: its nodes, shared directory and packages',
        description:
          'Checks the nodes, their shared directory and the installed packages. Allocates no GPU. The request has no body.',
        tags: ['clusters'],
        params: ClusterParams,
        response: { ...accepted, ...problems('cluster-not-found') },
      },
    },
    async (request, reply) => {
      if (request.body !== undefined) {
        throw new EchelonError('invalid-request', 'The preflight of a cluster takes no body.');
      }
      const { name } = await clusterOf(deps.store, request.params.name);
      request.auditTarget = name;
      const command = await beginCommand(deps, name, 'preflight');
      return reply.code(202).header('location', `/v1/commands/${command.id}`).send(command);
    },
  );
}
