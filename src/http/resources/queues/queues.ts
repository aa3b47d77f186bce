import { Type } from 'typebox';
import type { Caller } from '../../../core/scopes.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import { count } from '../../../schemas/optional-fields.ts';
import type { Pauses, QueuedExperiment } from '../../../store/queue/types.ts';
import { seenClusters } from '../../access/caller-projects.ts';
import { seenWords } from '../../access/seen-words.ts';
import { createCursors } from '../../server/cursor.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { findDispatchers } from '../../server/dispatchers.ts';
import { route } from '../../server/route.ts';
import { clusterViews } from '../clusters/cluster-views.ts';
import { estimateFields } from './estimate-fields.ts';

const Query = StrictObject({
  cursor: Type.Optional(
    Type.String({ maxLength: 200, description: '`next` of the page before. Default: the first page' }),
  ),
  limit: count(1, 1000, 'Queued experiments per page. Default: 100'),
});

/** GET /v1/queues. */
export function addQueues(app: App, deps: RouteDeps): void {
  const cursors = createCursors(deps.settings.cookieSecret);
  route(app, {
    at: 'GET /v1/queues',
    operationId: 'getQueue',
    summary: 'The queue: counts, queued experiments with their wait reasons, capacity of the clusters',
    description:
      'The queued experiments are paged by priority and arrival; the rest is repeated on each page. An experiment that stays queued at the same priority is on exactly one page. `position` is the place that the last scheduling round gave it, which also follows the shares of the projects. A key that is bound to a project sees that project only, with positions in the whole queue.',
    tag: 'queue',
    querystring: Query,
    answer: 'Queue',
    problems: ['invalid-cursor'],
    handler: async ({ caller, query: { cursor, limit = 100 } }) => {
      const scope = caller.project === null ? 'queue' : `queue of ${caller.project}`;
      const after = cursor === undefined ? {} : { after: cursors.open(scope, cursor) };
      const { next, ...view } = await queueView(deps, caller, { limit, ...after });
      return { ...view, next: next === null ? null : cursors.seal(scope, next) };
    },
  });
}

async function queueView(
  deps: Pick<RouteDeps, 'store' | 'clock' | 'queue'>,
  caller: Caller,
  page: { limit: number; after?: string },
) {
  const { store } = deps;
  const { project } = caller;
  const [counts, { length, queued, next }, pauses, backlog, pressure, clusters, dispatchers] =
    await Promise.all([
      store.experiments.counts(project ?? undefined),
      store.queue.page({ ...page, ...(project !== null && { project }) }),
      store.queue.pauses(),
      store.batches.backlog(),
      store.pressure(),
      clusterViews(deps),
      findDispatchers(deps),
    ]);
  const seen = seenWords(store, caller);
  return {
    counts,
    accepting: pressure.accepting,
    length,
    items: await Promise.all(queued.map((one) => seenItem(one, seen))),
    next,
    paused: seenQueues(caller, pauses),
    closed: seenQueues(caller, pauses.closed),
    dispatchers: { present: dispatchers.present, lastSeenAt: lastSeen(clusters) },
    verificationBacklog: backlog,
    clusters: await seenClusters(store, caller, clusters),
  };
}

/** A queued experiment with the words that the caller may see. */
async function seenItem(
  one: QueuedExperiment & { position: number },
  seen: <T extends string | null>(words: T) => Promise<T>,
) {
  const { position, experiment, name, project, priority, cluster, gpus, cpus, submittedAt } = one;
  const { estimate, noEstimate } = estimateFields(one);
  return {
    ...{ position, experiment, name, project, priority, cluster, gpus, cpus, submittedAt },
    priorityClass: one.priorityClass ?? 'normal',
    nodes: one.nodes ?? 1,
    waitReason: await seen(one.reason),
    estimate,
    noEstimate: await seen(noEstimate),
    place: one.place ?? null,
  };
}

/** When a dispatcher last had an answer of a cluster. */
function lastSeen(clusters: readonly { lastSeenAt: number | null }[]): number | null {
  const times = clusters.flatMap(({ lastSeenAt }) => lastSeenAt ?? []);
  return times.length === 0 ? null : Math.max(...times);
}

/** A caller that is bound to a project sees no other project. */
function seenQueues({ project }: Caller, { all, projects }: Pauses['closed']) {
  const seen = [...projects].filter(([name]) => project === null || name === project);
  return { all, projects: Object.fromEntries(seen) };
}
