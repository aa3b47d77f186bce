import { Type } from 'typebox';
import type { Caller } from '../../core/scopes.ts';
import type { Waiting } from '../../store/line-store.ts';
import type { Pauses } from '../../store/queue-store.ts';
import { seenClusters } from '../caller-projects.ts';
import { clusterViews } from '../cluster-views.ts';
import type { App, RouteDeps } from '../deps.ts';
import { problems } from '../responses.ts';
import { seenWords } from '../seen-words.ts';
import { waitingFields } from '../waiting.ts';
import { strict } from './common.ts';

const Query = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, description: 'Of the line; 100 where it is left out' }),
    ),
  },
  strict,
);

/** GET /v1/queues. */
export function addQueues(app: App, deps: RouteDeps): void {
  app.get(
    '/v1/queues',
    {
      schema: {
        operationId: 'getQueue',
        summary: 'The line: counts, who waits and why, what the clusters have',
        description:
          'A key that is bound to a project sees the counts and the waiting of that one, at their places in the whole line.',
        tags: ['queue'],
        querystring: Query,
        response: { 200: { $ref: 'Queue#' }, ...problems() },
      },
    },
    async ({ caller, query }) => queueView(deps, caller, query.limit ?? 100),
  );
}

async function queueView(deps: Pick<RouteDeps, 'store' | 'clock'>, caller: Caller, limit: number) {
  const { store } = deps;
  const { project } = caller;
  const [counts, { length }, waiting, pauses, backlog, pressure, clusters] = await Promise.all([
    store.counts(project ?? undefined),
    store.position(''),
    project === null ? firstInTurn(store, limit) : store.waitingOf(project, limit),
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
      waiting.map(async (one, index) => ({
        position: project === null ? index + 1 : (one.rank ?? index + 1),
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
    paused: pausedFor(caller, pauses),
    verificationBacklog: backlog,
    clusters: await seenClusters(store, caller, clusters),
  };
}

/** Records read at most for one answer, so that it comes in time however many projects wait. */
const MOST_READ = 10_000;

/** The first of the line in the order in which projects take turns, as the last choice found it. */
async function firstInTurn(
  store: Pick<RouteDeps['store'], 'lineWindow' | 'projects'>,
  limit: number,
): Promise<Waiting[]> {
  const projects = (await store.projects()).length;
  const perProject = Math.max(1, Math.min(limit, Math.floor(MOST_READ / projects)));
  const { waiting } = await store.lineWindow(perProject);
  const rankOf = ({ rank }: Waiting) => rank ?? Number.MAX_SAFE_INTEGER;
  // Those without a place were not looked at: they come after the others, in the order of the line.
  return waiting.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, limit);
}

/** A caller that is bound to a project is told of no other one. */
function pausedFor({ project }: Caller, { line, projects }: Pauses) {
  const seen = [...projects].filter(([name]) => project === null || name === project);
  return { line, projects: Object.fromEntries(seen) };
}
