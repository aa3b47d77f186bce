import { Type } from 'typebox';
import { strict } from '../../../schemas/strict.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { READ } from '../../server/policy.ts';
import { problems } from '../../server/responses.ts';
import { commandOf } from '../clusters/begin-command.ts';

const CommandParams = Type.Object({ id: Type.String({ description: 'Id of the command' }) }, strict);

/** GET /v1/commands/:id. */
export function addCommands(app: App, { store }: RouteDeps): void {
  app.get(
    '/v1/commands/:id',
    {
      config: { policy: { ...READ, concurrency: 'digest', scope: 'admin' } },
      schema: {
        operationId: 'getCommand',
        summary: 'Get the state and findings of a cluster command',
        description: 'The record is retained for a week after its end.',
        tags: ['clusters'],
        params: CommandParams,
        response: { 200: { $ref: 'Command#' }, ...problems('not-found') },
      },
    },
    async (request) => commandOf(store, request.params.id),
  );
}
