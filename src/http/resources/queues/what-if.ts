import { type Static, Type } from 'typebox';
import { EchelonError } from '../../../core/errors.ts';
import { type Caller, sees } from '../../../core/scopes.ts';
import type { ExperimentSpec } from '../../../engines/registry.ts';
import { validateSpec } from '../../../engines/validate-spec.ts';
import { TOO_FAR } from '../../../scheduler/estimate.ts';
import { needOf } from '../../../scheduler/placement.ts';
import { pacedIds, pacedOf, roundInput, toPaces } from '../../../scheduler/round-input.ts';
import { expectedLength } from '../../../scheduler/spans.ts';
import { type Change, type Outcome, type Shift, whatIf } from '../../../scheduler/what-if.ts';
import type { QueueOutcome, WhatIfView } from '../../../schemas/api.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import { Priority } from '../../../schemas/spec-parts.ts';
import { queueClosed } from '../../../store/experiments/admission.ts';
import type { Pauses } from '../../../store/queue/types.ts';
import type { Store } from '../../../store/store.ts';
import { type SeenWords, seenWords } from '../../access/seen-words.ts';
import { createIntake } from '../../intake/intake.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { experimentOf, notQueued } from '../common.ts';
import { estimateFields } from './estimate-fields.ts';

/** Maximum number of queued experiments that an answer examines, except for the minimum of each project. */
const WINDOW = 1_024;
const MIN_WINDOW = 64;
const MAX_SHIFTS = 100;

/** Stands for the id of an experiment that was not submitted, in wait reasons of others. */
const NEW = 'the new experiment';

const Body = StrictObject({
  spec: Type.Optional(
    Type.Unsafe<ExperimentSpec>(
      Type.Object({}, { additionalProperties: true, description: 'Spec of an experiment to submit.' }),
    ),
  ),
  experiment: Type.Optional(Type.String({ maxLength: 64, description: 'Id of a queued experiment.' })),
  priority: Type.Optional(Priority),
});

/** POST /v1/queues/what-if. */
export function addWhatIf(app: App, deps: RouteDeps): void {
  const { store, clock } = deps;
  route(app, {
    at: 'POST /v1/queues/what-if',
    operationId: 'whatIf',
    scope: 'read',
    idempotency: 'ignored',
    audit: false,
    summary: 'Find out when an experiment would start, and which others would start later',
    description: `Give the \`spec\` of an experiment to submit, or a queued \`experiment\` and another \`priority\` for it. Changes nothing. The answer is what the next scheduling round would find, on the present figures. It examines the first ${WINDOW} queued experiments, at least ${MIN_WINDOW} of each project. A spec is refused as by a submission. A key that is bound to a project gets \`shifts\` of its project only; \`later\` and \`earlier\` count all projects.`,
    tag: 'queue',
    body: Body,
    secrets: 'handler',
    answer: 'WhatIf',
    problems: ['invalid-spec', 'not-found', 'not-queued', 'queue-closed'],
    handler: async ({ body, caller }): Promise<WhatIfView> => {
      const change = await changeOf(deps, { body, caller, now: clock.now() });
      const seen = await store.queue.snapshot(await windowOf(store));
      if (body.spec !== undefined) refuseClosed(seen.pauses, change.item.project);
      const { queued, truncated } = seen.window;
      const common = { ...roundInput(seen), preemptWithinMs: deps.settings.preemptWithinMs };
      const paced = pacedOf(common.allocations, queued);
      const paces = toPaces(paced, await store.queue.paces(pacedIds(paced)), seen.now);
      const found = whatIf({ ...common, ...paces, queued, truncated }, change);
      const words = seenWords(store, caller);
      return {
        before: body.spec === undefined ? await outcomeOf(found.before, words) : null,
        after: await outcomeOf(found.after, words),
        ...shiftsOf(found.shifts, caller),
        examined: queued.length,
        isWhole: truncated.size === 0,
      };
    },
  });
}

async function windowOf(store: Pick<Store, 'projects' | 'queue'>): Promise<number> {
  const projects = await store.projects.list();
  return Math.max(MIN_WINDOW, Math.floor(WINDOW / Math.max(1, projects.length)));
}

interface Asked {
  body: Static<typeof Body>;
  caller: Caller;
  now: number;
}

async function changeOf(deps: RouteDeps, { body, caller, now }: Asked): Promise<Change> {
  const { store } = deps;
  const { spec, experiment, priority } = body;
  if (spec !== undefined && experiment === undefined && priority === undefined)
    return submissionOf(deps, { spec: validateSpec(spec), caller, now });
  if (spec !== undefined || experiment === undefined || priority === undefined)
    throw new EchelonError('invalid-request', 'Give either `spec`, or `experiment` and `priority`.');
  const { id, state } = await experimentOf(store, { caller }, experiment);
  const item = await store.queue.get(id);
  if (item === undefined) throw notQueued(state);
  const pace = (await store.queue.paces([id])).get(id);
  return { item: { ...item, priority }, length: pace === undefined ? null : expectedLength(pace) };
}

async function submissionOf(
  deps: RouteDeps,
  { spec, caller, now }: { spec: ExperimentSpec; caller: Caller; now: number },
): Promise<Change> {
  const { spec: resolved } = await createIntake(deps, caller).take(spec);
  const { name, project, priority, priorityClass, cluster, clusterLabels: labels } = resolved;
  const { resources, timeoutSeconds } = resolved;
  const item = {
    experiment: NEW,
    name,
    project,
    priority,
    priorityClass,
    cluster,
    labels,
    ...needOf(resources),
    submittedAt: now,
    reason: null,
  };
  const timeoutMs = timeoutSeconds === null ? null : timeoutSeconds * 1000;
  const none = { startedAt: null, step: null, perStep: null, timeoutAt: null, sweep: null };
  return { item, length: expectedLength({ ...none, attempt: 0, steps: 0, kept: 0, timeoutMs }) };
}

function refuseClosed({ closed }: Pauses, project: string): void {
  const by = closed.all ?? closed.projects.get(project);
  if (by !== undefined) throw queueClosed(JSON.stringify(by));
}

async function outcomeOf(found: Outcome | undefined, words: SeenWords): Promise<QueueOutcome> {
  const none = { startsNow: false, position: null, waitReason: null, place: null };
  if (found === undefined) return { ...none, estimate: null, noEstimate: TOO_FAR };
  const { startsNow, estimate = null } = found;
  if (found.startsNow) return { ...none, startsNow, estimate, noEstimate: null };
  const { reason, rank = null, place = null } = found;
  const fields = estimateFields({ estimate, unknown: found.unknown ?? null, reason });
  return {
    startsNow,
    position: rank,
    waitReason: await words(reason),
    place,
    estimate: fields.estimate,
    noEstimate: await words(fields.noEstimate),
  };
}

function shiftsOf(
  shifts: readonly Shift[],
  caller: Caller,
): Pick<WhatIfView, 'later' | 'earlier' | 'shifts'> {
  const byMs = ({ from, to }: Shift) => (to === null ? Number.POSITIVE_INFINITY : to.startAt - from.startAt);
  const later = shifts.filter((one) => byMs(one) > 0).length;
  const shown = shifts.filter(({ item }) => sees(caller, item.project)).sort((a, b) => byMs(b) - byMs(a));
  return {
    later,
    earlier: shifts.length - later,
    shifts: shown
      .slice(0, MAX_SHIFTS)
      .map(({ item: { experiment, name, project }, from, to }) => ({ experiment, name, project, from, to })),
  };
}
