import { nearestName } from 'command-kit/nearest';
import { EchelonError } from '../../../core/errors.ts';
import { Text } from '../../../schemas/answer-parts.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import type { QueueTarget } from '../../../store/queue/types.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { PauseBody, pauseBy } from '../common.ts';

/** Stands for all projects. No project's name begins with an underscore. */
const ALL_PROJECTS = '_all';

const QueueParams = StrictObject({
  name: Text(`A project's name, or ${ALL_PROJECTS} for the queue of all projects`),
});
/** POST pause, close and resume of queues. */
export function addQueuePauses(app: App, deps: RouteDeps): void {
  addPause(app, deps);
  addClose(app, deps);
  addResume(app, deps);
}

function addPause(app: App, { store, clock }: RouteDeps): void {
  route(app, {
    at: 'POST /v1/queues/:name/pause',
    operationId: 'pauseQueue',
    scope: 'admin',
    summary: 'Pause the queue of a project or of all projects',
    description:
      'No queued experiment starts until the queue is resumed. Submissions are still accepted, and running experiments continue. The request body is optional.',
    tag: 'queue',
    params: QueueParams,
    optionalBody: PauseBody,
    answer: 'QueuePause',
    problems: ['project-not-found'],
    handler: async ({ params, body, caller }) => {
      const target = await queueOf(store, params.name);
      const pause = pauseBy(caller, body, clock.now());
      await store.queue.setPaused(target, pause);
      return queueState(store, params.name);
    },
  });
}

function addClose(app: App, { store, clock }: RouteDeps): void {
  route(app, {
    at: 'POST /v1/queues/:name/close',
    operationId: 'closeQueue',
    scope: 'admin',
    summary: 'Close the queue of a project or of all projects',
    description:
      'The queue accepts no new experiments until it is resumed. Submissions, sweeps and re-runs get `queue-closed`. Queued experiments, children of accepted sweeps and further attempts still start. A repeated request with its Idempotency-Key gets the first response. The request body is optional.',
    tag: 'queue',
    params: QueueParams,
    optionalBody: PauseBody,
    answer: 'QueuePause',
    problems: ['project-not-found'],
    handler: async ({ params, body, caller }) => {
      await store.queue.setClosed(await queueOf(store, params.name), pauseBy(caller, body, clock.now()));
      return queueState(store, params.name);
    },
  });
}

function addResume(app: App, { store }: RouteDeps): void {
  route(app, {
    at: 'POST /v1/queues/:name/resume',
    operationId: 'resumeQueue',
    scope: 'admin',
    summary: 'Resume a queue that was paused or closed',
    body: null,
    description: 'Has no effect if the queue is neither paused nor closed. The request has no body.',
    tag: 'queue',
    params: QueueParams,
    answer: 'QueuePause',
    problems: ['project-not-found'],
    handler: async ({ params }) => {
      const target = await queueOf(store, params.name);
      await store.queue.setPaused(target, null);
      await store.queue.setClosed(target, null);
      return queueState(store, params.name);
    },
  });
}

async function queueState(store: RouteDeps['store'], name: string) {
  const { all, projects, closed } = await store.queue.pauses();
  if (name === ALL_PROJECTS) return { queue: name, paused: all, closed: closed.all };
  return { queue: name, paused: projects.get(name) ?? null, closed: closed.projects.get(name) ?? null };
}

async function queueOf(store: RouteDeps['store'], name: string): Promise<QueueTarget> {
  if (name === ALL_PROJECTS) return { kind: 'all' };
  const known = (await store.projects.list()).map((project) => project.name);
  if (known.includes(name)) return { kind: 'project', name };
  const near = nearestName(name, [...known, ALL_PROJECTS]);
  throw new EchelonError(
    'project-not-found',
    `There is no project ${name.slice(0, 70)}.${near === undefined ? ` ${ALL_PROJECTS} means all projects.` : ` Did you mean ${near}?`}`,
  );
}
