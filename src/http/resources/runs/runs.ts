import { randomUUID } from 'node:crypto';
import { EchelonError, type FieldProblem } from '../../../core/errors.ts';
import type { AttemptEvent, NumberedEvent } from '../../../core/events.ts';
import { newExperimentId } from '../../../core/ids.ts';
import { maskSecrets } from '../../../core/secret-patterns.ts';
import { EXTERNAL_ENGINE, endOfRun, RUN_ATTEMPT } from '../../../engines/external-run.ts';
import type { ResolvedRun } from '../../../plan/external-run.ts';
import { RunEvents, RunSpec } from '../../../schemas/runs.ts';
import { createIntake } from '../../intake/intake.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { idempotencyOf } from '../../server/idempotency.ts';
import { located } from '../../server/operation.ts';
import { route } from '../../server/route.ts';
import { ExperimentParams, experimentOf, NEW_WORK_REFUSALS } from '../common.ts';

const OPENED = {
  201: located('Opened; the experiment is running.', 'RunOpened', 'Path of the experiment.'),
};

/** POST /v1/runs and POST /v1/runs/:id/events. */
export function addRuns(app: App, deps: RouteDeps): void {
  addOpen(app, deps);
  addAppend(app, deps);
}

function addOpen(app: App, deps: RouteDeps): void {
  route(app, {
    at: 'POST /v1/runs',
    operationId: 'openRun',
    idempotency: 'own',
    timeout: 'store',
    summary: 'Open a run that Echelon does not start',
    description: `Creates an experiment of the engine \`${EXTERNAL_ENGINE}\` in the state \`running\`. It takes no place in the queue and no resources. A closed queue refuses it, and a project may have at most 200 open runs. Its batches are verified; its rules can only mark. A cancel ends the record and not the training.`,
    tag: 'runs',
    body: RunSpec,
    secrets: 'handler',
    answers: OPENED,
    problems: ['limit-reached', ...NEW_WORK_REFUSALS],
    handler: async (request, reply) => {
      const { spec, defaults } = await createIntake(deps, request.caller).takeRun(request.body);
      const idempotency = idempotencyOf(request);
      const { id, token } = await deps.store.runs.open({
        id: newExperimentId(),
        project: spec.project,
        owner: request.caller.name,
        name: spec.name,
        token: randomUUID(),
        submitted: { engine: EXTERNAL_ENGINE, ...request.body },
        resolved: spec,
        defaults,
        silenceMs: spec.silenceSeconds * 1000,
        ...(idempotency && { idempotency }),
      });
      const self = `/v1/experiments/${id}`;
      return reply
        .code(201)
        .header('location', self)
        .send({ id, self, events: `/v1/runs/${id}/events`, token });
    },
  });
}

function addAppend(app: App, { store, clock }: RouteDeps): void {
  route(app, {
    at: 'POST /v1/runs/:id/events',
    operationId: 'appendRunEvents',
    // One entry of the audit log for each request would push all others out.
    audit: false,
    summary: 'Append events to a run',
    description:
      'Event n is accepted only after event n − 1. Recorded events are ignored if their content is the same, so a request may be repeated, also after the end of the run. The answer tells the last recorded number, also for an empty list. An event `ended` ends the run and must be the last one.',
    tag: 'runs',
    params: ExperimentParams,
    body: RunEvents,
    secrets: 'handler',
    answer: 'RunProgress',
    problems: [
      'not-found',
      'already-final',
      'lease-lost',
      'sequence-gap',
      'event-conflict',
      'quota-exceeded',
      'store-full',
    ],
    handler: async (request) => {
      const { token, events } = request.body;
      const found = await experimentOf(store, request, request.params.id);
      const numbered = numberedEvents(events, clock.now());
      const lease = { experiment: found.id, attempt: RUN_ATTEMPT, token };
      if (found.endedAt !== null) {
        // The client may not have received the answer to the request that ended the run.
        const last = await store.runs.repeated(lease, numbered);
        if (last !== null) return { last };
        throw new EchelonError('already-final', `The run has ended: ${found.reason}. Open a new run.`);
      }
      const { silenceSeconds = 0 } = found.resolved as Partial<ResolvedRun>;
      await store.runs.hear(lease, silenceSeconds * 1000, numbered);
      const last = await store.events.append(lease, numbered);
      const event = numbered.at(-1)?.event;
      if (event?.type === 'ended') await store.attempts.end(lease, endOfRun(event));
      return { last };
    },
  });
}

/** The events for the store. Throws EchelonError `invalid-request`. A time in the future becomes `now`. */
function numberedEvents(events: RunEvents['events'], now: number): NumberedEvent[] {
  const problems: FieldProblem[] = [];
  const numbered = events.map(({ sequence, at, event, data }, index): NumberedEvent => {
    const bytes = data === undefined ? undefined : Buffer.from(data, 'base64');
    const message = problemOf(event as AttemptEvent, bytes, index === events.length - 1);
    if (message !== null) problems.push({ field: `/events/${index}`, message });
    if (sequence !== events[0]!.sequence + index)
      problems.push({
        field: `/events/${index}/sequence`,
        message: 'must be one more than the previous number',
      });
    const shown = withoutSecrets(event as AttemptEvent);
    return { sequence, at: Math.min(at, now), event: shown, ...(bytes && { data: bytes }) };
  });
  if (problems.length > 0) {
    throw new EchelonError('invalid-request', 'The events are invalid.', { problems: problems.slice(0, 20) });
  }
  return numbered;
}

/** A part of an event with every secret of a known form masked in its texts and names: no ray-worker has done it. */
function withoutSecrets<T>(part: T): T;
function withoutSecrets(part: unknown): unknown {
  if (typeof part === 'string') return maskSecrets(part);
  if (Array.isArray(part)) return part.map((one) => withoutSecrets(one));
  if (typeof part !== 'object' || part === null) return part;
  return Object.fromEntries(
    Object.entries(part).map(([name, value]) => [maskSecrets(name), withoutSecrets(value)]),
  );
}

function problemOf(event: AttemptEvent, data: Uint8Array | undefined, isLast: boolean): string | null {
  if (event.type === 'ended') return isLast ? null : 'must be the last event, because it ends the run';
  if (event.type !== 'batch') return data === undefined ? null : 'must have no data: only a batch has bytes';
  if (data === undefined || data.length !== event.bytes)
    return 'must have data of the size that `bytes` states';
  return event.index < event.count ? null : 'must have an index below count';
}
