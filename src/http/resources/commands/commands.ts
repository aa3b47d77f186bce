import { Text } from '../../../schemas/answer-parts.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { commandOf } from '../clusters/begin-command.ts';

const CommandParams = StrictObject({ id: Text('Id of the command') });

/** GET /v1/commands/:id. */
export function addCommands(app: App, { store }: RouteDeps): void {
  route(app, {
    at: 'GET /v1/commands/:id',
    operationId: 'getCommand',
    concurrency: 'digest',
    scope: 'admin',
    summary: 'Get the state and findings of a cluster command',
    description: 'The record is retained for a week after its end.',
    tag: 'clusters',
    params: CommandParams,
    answer: 'Command',
    problems: ['not-found'],
    handler: async (request) => commandOf(store, request.params.id),
  });
}
