import { Type } from 'typebox';
import type { Caller } from '../../core/scopes.ts';
import type { LinePlace, Waiting } from '../../store/line-store.ts';
import type { Pauses } from '../../store/queue-store.ts';
import { seenClusters } from '../caller-projects.ts';
import { clusterViews } from '../cluster-views.ts';
import { createCursors } from '../cursor.ts';
import type { App, RouteDeps } from '../deps.ts';
import { problems } from '../responses.ts';
import { seenWords } from '../seen-words.ts';
import { waitingFields } from '../waiting.ts';
import { strict } from './common.ts';

const Query = Type.Object(
  {
    cursor: Type.Optional(
      // It names the projects that take turns, and has to fit into the address of a request.
      Type.String({ maxLength: 8000, description: '`next` of the page before; left out: the first page' }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, description: 'Of the line; 100 where it is left out' }),
    ),
  },
  strict,
);

/** GET /v1/queues. */
export function addQueues(app: App, deps: RouteDeps): void {
  const cursors = createCursors(deps.settings.cookieSecret);
  app.get(
    '/v1/queues',
    {
      schema: {
        operationId: 'getQueue',
        summary: 'The line: counts, who waits and why, what the clusters have',
        description:
          'The line is paged, the rest is told with each page. The line moves while it is read: each that waits all the while, at the same priority, is on one page, at its place of then. A key that is bound to a project sees the counts and the waiting of that one, at their places in the whole line.',
        tags: ['queue'],
        querystring: Query,
        response: { 200: { $ref: 'Queue#' }, ...problems('invalid-cursor') },
      },
    },
    async ({ caller, query: { cursor, limit = 100 } }) => {
      const scope = caller.project === null ? 'queue' : `queue of ${caller.project}`;
      const from = cursor === undefined ? {} : { from: toPlace(cursors.open(scope, cursor)) };
      const { next, ...view } = await queueView(deps, caller, { limit, ...from });
      return { ...view, next: next === null ? null : cursors.seal(scope, toText(next)) };
    },
  );
}

async function queueView(
  deps: Pick<RouteDeps, 'store' | 'clock'>,
  caller: Caller,
  page: { limit: number; from?: LinePlace },
) {
  const { store } = deps;
  const { project } = caller;
  const [counts, { length, waiting, next }, pauses, backlog, pressure, clusters] = await Promise.all([
    store.counts(project ?? undefined),
    store.linePage({ ...page, ...(project !== null && { project }) }),
    store.pauses(),
    store.backlog(),
    store.pressure(),
    clusterViews(deps),
  ]);
  const seen = seenWords(store, caller);
  const seenFields = async (one: Waiting) => {
    const { estimate, noEstimate } = waitingFields(one);
    return { estimate, noEstimate: await seen(noEstimate) };
  };
  return {
    counts,
    accepting: pressure.accepting,
    length,
    waiting: await Promise.all(
      waiting.map(async (one) => ({
        position: project === null ? one.place : (one.rank ?? one.place),
        experiment: one.experiment,
        name: one.name,
        project: one.project,
        priority: one.priority,
        cluster: one.cluster,
        gpus: one.gpus,
        cpus: one.cpus,
        submittedAt: one.submittedAt,
        reason: await seen(one.reason),
        ...(await seenFields(one)),
      })),
    ),
    next,
    paused: seenQueues(caller, pauses),
    draining: seenQueues(caller, pauses.draining),
    verificationBacklog: backlog,
    clusters: await seenClusters(store, caller, clusters),
  };
}

/** A place of the line as the cursors carry it. */
const toText = ({ behind, projects }: LinePlace): string => JSON.stringify([behind, projects]);

/** From what {@link toText} made, which the signature vouches for. */
function toPlace(text: string): LinePlace {
  const [behind, projects] = JSON.parse(text) as [string, Record<string, string>];
  return { behind, projects };
}

/** A caller that is bound to a project is told of no other one. */
function seenQueues({ project }: Caller, { line, projects }: Pauses['draining']) {
  const seen = [...projects].filter(([name]) => project === null || name === project);
  return { line, projects: Object.fromEntries(seen) };
}
