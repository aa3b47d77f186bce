import { StrictObject } from '../../../schemas/objects.ts';
import type { ArtifactPage } from '../../../schemas/records.ts';
import { createCursors } from '../../server/cursor.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { ExperimentParams, experimentOf, PageQuery } from '../common.ts';

/** GET /v1/experiments/:id/artifacts. */
export function addArtifacts(app: App, { store, settings }: RouteDeps): void {
  const cursors = createCursors(settings.cookieSecret);
  route(app, {
    at: 'GET /v1/experiments/:id/artifacts',
    operationId: 'listArtifacts',
    summary: 'List the checkpoints of an experiment, oldest first',
    description:
      'Lists the registered checkpoints of all attempts, at most the last 10,000. Echelon does not check whether the files still exist.',
    tag: 'experiments',
    params: ExperimentParams,
    querystring: StrictObject(PageQuery),
    answer: 'ArtifactPage',
    problems: ['not-found', 'invalid-cursor'],
    handler: async (request): Promise<ArtifactPage> => {
      const { id } = await experimentOf(store, request, request.params.id);
      const { cursor, limit = 50 } = request.query;
      const scope = `artifacts ${id}`;
      const from = cursor === undefined ? 0 : Number(cursors.open(scope, cursor));
      const { items, more } = await store.experiments.artifacts(id, from, limit);
      return { items, next: more ? cursors.seal(scope, String(from + items.length)) : null };
    },
  });
}
