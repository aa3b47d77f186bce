import { Type } from 'typebox';
import { SCOPES } from '../../../core/scopes.ts';
import { strict } from '../../../schemas/strict.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { READ } from '../../server/policy.ts';
import { problems } from '../../server/responses.ts';

/** GET /v1/caller: who asks, for pages and scripts that show only what can be done. */
export function addCaller(app: App, { settings }: Pick<RouteDeps, 'settings'>): void {
  app.get(
    '/v1/caller',
    {
      config: { policy: READ },
      schema: {
        operationId: 'getCaller',
        summary: 'Get the caller: name, project and scopes of the current credentials',
        tags: ['access'],
        response: {
          200: Type.Object(
            {
              id: Type.String(),
              name: Type.String(),
              project: Type.Union([Type.String(), Type.Null()], {
                description: 'Project to which the caller is bound; null means all projects.',
              }),
              scopes: Type.Array(Type.Enum([...SCOPES], { type: 'string' })),
              grafana: Type.Union([Type.String(), Type.Null()], {
                description: 'URL of Grafana; null if the operator has stated none.',
              }),
            },
            strict,
          ),
          ...problems(),
        },
      },
    },
    async ({ caller: { id, name, project, scopes } }) => ({
      ...{ id, name, project, scopes: [...scopes] },
      grafana: settings.grafanaUrl ?? null,
    }),
  );
}
