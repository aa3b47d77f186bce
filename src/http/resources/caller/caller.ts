import { Type } from 'typebox';
import { SCOPES } from '../../../core/scopes.ts';
import { nullable } from '../../../schemas/answer-parts.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';

/** GET /v1/caller: who asks, for pages and scripts that show only what can be done. */
export function addCaller(app: App, { settings }: Pick<RouteDeps, 'settings'>): void {
  route(app, {
    at: 'GET /v1/caller',
    operationId: 'getCaller',
    summary: 'Get the caller: name, project and scopes of the current credentials',
    tag: 'access',
    answer: StrictObject({
      id: Type.String(),
      name: Type.String(),
      project: nullable(Type.String(), {
        description: 'Project to which the caller is bound; null means all projects.',
      }),
      scopes: Type.Array(Type.Enum([...SCOPES], { type: 'string' })),
      grafana: nullable(Type.String(), {
        description: 'URL of Grafana; null if the operator has stated none.',
      }),
    }),
    handler: async ({ caller: { id, name, project, scopes } }) => ({
      id,
      name,
      project,
      scopes: [...scopes],
      grafana: settings.grafanaUrl ?? null,
    }),
  });
}
