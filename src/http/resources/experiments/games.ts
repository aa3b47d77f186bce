import { Type } from 'typebox';
import { StrictObject } from '../../../schemas/objects.ts';
import { count } from '../../../schemas/optional-fields.ts';
import type { GamePage } from '../../../schemas/records.ts';
import { createCursors } from '../../server/cursor.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { ExperimentParams, experimentOf, PageQuery } from '../common.ts';

/** GET /v1/experiments/:id/games. */
export function addGames(app: App, { store, settings }: RouteDeps): void {
  const cursors = createCursors(settings.cookieSecret);
  route(app, {
    at: 'GET /v1/experiments/:id/games',
    operationId: 'listGames',
    summary: 'List the evaluations of an experiment with every game, oldest first',
    description:
      'Each game has success, score, steps and invalid steps of each replicate. An evaluation without a digest played games that were drawn: a sampled panel. It cannot enter a comparison.',
    tag: 'experiments',
    params: ExperimentParams,
    querystring: StrictObject({
      ...PageQuery,
      limit: count(1, 20, 'Maximum number of evaluations per page. Default: 5.'),
      step: Type.Optional(Type.Integer({ minimum: 0, description: 'Return only evaluations of this step.' })),
    }),
    answer: 'GamePage',
    problems: ['not-found', 'invalid-cursor'],
    handler: async (request): Promise<GamePage> => {
      const { id } = await experimentOf(store, request, request.params.id);
      const { cursor, limit = 5, step } = request.query;
      const scope = `games ${id} ${step ?? ''}`;
      const from = cursor === undefined ? 0 : Number(cursors.open(scope, cursor));
      const all = (await store.events.evaluations(id)).filter(
        (one) => step === undefined || one.step === step,
      );
      const items = [];
      for (const place of all.slice(from, from + limit)) {
        const evaluation = await store.events.evaluation(id, place);
        if (evaluation !== undefined) items.push(evaluation);
      }
      const next = from + limit < all.length ? cursors.seal(scope, String(from + limit)) : null;
      return { items, next };
    },
  });
}
