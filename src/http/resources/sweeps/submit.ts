import { setImmediate as breathe } from 'node:timers/promises';
import { plural } from 'command-kit/plural';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EchelonError, type FieldProblem } from '../../../core/errors.ts';
import { newSweepId } from '../../../core/ids.ts';
import type { PriorityClass } from '../../../core/priority-class.ts';
import type { Caller } from '../../../core/scopes.ts';
import { holderOf } from '../../../core/scopes.ts';
import { checkpointOf } from '../../../engines/named-training.ts';
import { engineOf, fingerprintOf } from '../../../engines/registry.ts';
import { resolveSpec } from '../../../plan/resolve-spec.ts';
import {
  childValues,
  draftSweep,
  invalidSweep,
  type SweepChildSpec,
  type SweepDraft,
} from '../../../plan/sweep.ts';
import { createSweepCheck } from '../../../plan/sweep-check.ts';
import type { ComparisonPlan } from '../../../schemas/comparison.ts';
import { canonicalJson } from '../../../schemas/json.ts';
import { type SweepAccepted, type SweepPreview, SweepRequest } from '../../../schemas/sweep.ts';
import { inOwnProject } from '../../access/caller-projects.ts';
import { createIntake } from '../../intake/intake.ts';
import { createFitCheck, type Place } from '../../intake/placement.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { idempotencyOf } from '../../server/idempotency.ts';
import { route } from '../../server/route.ts';
import { createSlots, type Slots } from '../../server/slots.ts';
import { NEW_WORK_REFUSALS, SWEEP_ACCEPTED } from '../common.ts';

/** Children are judged for so long before other requests get their turn; in ms. */
const TURN_MS = 10;
/** Sweeps that one server checks at once: of one caller, and of all. */
const CHECKS = 2;
const MAX_CHECKS = 4;
/** Children shown by a preview. */
const SHOWN = 10;

const EXAMPLE = {
  name: 'two estimators',
  method: 'grid',
  spec: engineOf('local').example,
  axes: { 'training.seed': [1, 2, 3] },
};

/** POST /v1/sweeps and its dry run. */
export function addSweepSubmit(app: App, deps: RouteDeps): void {
  const checks = createChecks();
  addSubmit(app, deps, checks);
  addPreview(app, deps, checks);
}

/** A check may judge 10,000 children, and every other request waits for its turns. */
export function createChecks(): Slots {
  return createSlots(
    CHECKS,
    `No more than ${CHECKS} sweeps of a caller are checked at once. Wait for the response to another request.`,
    { most: MAX_CHECKS, refusal: `The server checks ${MAX_CHECKS} sweeps, its most. Try again later.` },
  );
}

function addSubmit(app: App, deps: RouteDeps, checks: Slots): void {
  route(app, {
    at: 'POST /v1/sweeps',
    operationId: 'submitSweep',
    idempotency: 'own',
    summary: 'Submit a sweep: one spec with many values',
    description:
      'Every child is validated first; an invalid child refuses the whole sweep. Status 202 means that the sweep is stored durably. Its children are queued one after another.',
    tag: 'sweeps',
    body: SweepRequest,
    secrets: 'handler',
    examples: { grid: EXAMPLE },
    answers: SWEEP_ACCEPTED,
    problems: [...NEW_WORK_REFUSALS],
    handler: async (request, reply) => {
      const { body, caller } = request;
      const release = checks.take(holderOf(caller));
      const judged = await judge(deps, { caller, body, reply }).finally(release);
      return accept(deps, { request, reply, body, judged });
    },
  });
}

/** Stores a sweep whose children are valid, and answers. `comparison`: the plan that it belongs to. */
export async function accept(
  { store }: RouteDeps,
  input: {
    request: FastifyRequest;
    reply: FastifyReply;
    body: SweepRequest;
    judged: Awaited<ReturnType<typeof judge>>;
    comparison?: ComparisonPlan;
  },
): Promise<FastifyReply> {
  const { request, reply, body, comparison = null } = input;
  const { draft, fingerprints, project, warnings } = input.judged;
  const idempotency = idempotencyOf(request);
  const { id, created } = await store.sweeps.create({
    id: newSweepId(),
    project,
    owner: request.caller.name,
    name: body.name,
    method: body.method,
    fingerprints,
    metric: body.metric,
    earlyStopping: body.earlyStopping ?? null,
    comparison,
    seed: draft.seed,
    spec: draft.spec,
    axes: draft.axes,
    entries: draft.entries,
    ...(idempotency && { idempotency }),
  });
  request.audited = !created;
  const self = comparison === null ? `/v1/sweeps/${id}` : `/v1/comparisons/${id}`;
  const accepted: SweepAccepted = { id, self, count: draft.entries.length, warnings };
  return reply.code(202).header('location', self).send(accepted);
}

function addPreview(app: App, deps: RouteDeps, checks: Slots): void {
  route(app, {
    at: 'POST /v1/sweeps/preview',
    operationId: 'previewSweep',
    scope: 'read',
    idempotency: 'ignored',
    audit: false,
    summary: 'Preview a sweep without running it',
    description: `Checks every child, counts them and shows the first ${SHOWN}. Stores nothing.`,
    tag: 'sweeps',
    body: SweepRequest,
    secrets: 'handler',
    answer: 'SweepPreview',
    problems: ['invalid-spec'],
    handler: async (request, reply): Promise<SweepPreview> => {
      const { body, caller } = request;
      const release = checks.take(holderOf(caller));
      const { draft, first, warnings } = await judge(deps, { caller, body, reply }).finally(release);
      return { ...preview(draft, first), warnings };
    },
  });
}

type Intake = ReturnType<typeof createIntake>;

/** The draft of a sweep in the caller's project, with the checkpoint of a training that its spec names. */
async function draftFor(intake: Intake, caller: Caller, body: SweepRequest): Promise<SweepDraft> {
  const placed = inOwnProject(caller, body.spec);
  const spec = await intake.complete(placed).catch((error: unknown) => {
    if (!(error instanceof EchelonError)) throw error;
    throw invalidSweep(error.problems.map((one) => ({ ...one, field: `/spec${one.field}` })));
  });
  const draft = draftSweep({ ...body, spec });
  if (spec === placed || draft.axes.every(({ pointer }) => pointer !== '/cluster')) return draft;
  const message = 'cannot be an axis: the spec names a training, and only its cluster has its checkpoint';
  throw invalidSweep([{ field: '/axes/cluster', message }]);
}

function preview(draft: SweepDraft, first: readonly SweepChildSpec[]): Omit<SweepPreview, 'warnings'> {
  return {
    count: draft.entries.length,
    axes: [...draft.axes],
    children: first.map(({ submitted }, index) => ({
      index,
      name: submitted.name,
      values: childValues(draft.axes, draft.entries[index]!),
      spec: submitted,
    })),
  };
}

/**
 * Checks every child as a single experiment would be, and ends early if the client has disconnected. Throws
 * EchelonError `invalid-spec` with what is wrong.
 */
export async function judge(
  deps: RouteDeps,
  { caller, body, reply }: { caller: Caller; body: SweepRequest; reply: FastifyReply },
) {
  const intake = createIntake(deps, caller);
  const draft = await draftFor(intake, caller, body);
  // If children name clusters by themselves, only what is allowed on every cluster counts.
  const anywhere = draft.axes.some(({ pointer }) => pointer === '/cluster' || pointer === '');
  const { cluster = null } = draft.spec as { cluster?: string | null };
  const permissions = await intake.permissions(anywhere ? null : cluster, true);
  const check = createSweepCheck(draft, (spec) => resolveSpec(spec, permissions));
  const fingerprints: (string | null)[] = [];
  const first: SweepChildSpec[] = [];
  const places = new Map<string, { spec: Place; index: number }>();
  const fit = createFitCheck();
  let project = '';
  let priorityClass: PriorityClass = 'normal';
  let turn = performance.now();
  for (let index = 0; index < draft.entries.length && !check.full(); index += 1) {
    if (performance.now() - turn > TURN_MS) {
      await breathe();
      // The client has disconnected, or the request has exceeded its deadline.
      if (reply.sent || reply.raw.destroyed)
        throw new EchelonError('deadline-exceeded', 'The client disconnected.');
      turn = performance.now();
    }
    const child = check.child(index);
    if (child === undefined) continue;
    const { spec } = child.resolved;
    const place = canonicalJson([spec.cluster, spec.clusterLabels, checkpointOf(spec)?.directory ?? null]);
    if (!places.has(place)) places.set(place, { spec, index });
    fit.add(spec);
    if (first.length < SHOWN) first.push(child);
    fingerprints.push(fingerprintOf(spec));
    project = spec.project;
    if (spec.priorityClass === 'urgent') priorityClass = 'urgent';
  }
  check.refuse();
  const problem = await intake.projectProblem({ project, priorityClass });
  if (problem) throw invalidSweep([{ ...problem, field: `/spec${problem.field}` }]);
  const known = await intake.clusters();
  await requirePlaces(intake, [...places.values()]);
  const repeated = check.repeated();
  const warnings = [...fit.warnings(known), ...(repeated > 0 ? [repeatedInWords(repeated)] : [])];
  return { draft, fingerprints, first, project, warnings };
}

const repeatedInWords = (count: number): string =>
  `${plural(count, 'child', 'children')} drew the values of an earlier child: the same run, which counts as one more seed.`;

/** `children`: the first child of each place. */
async function requirePlaces(intake: Intake, children: readonly { spec: Place; index: number }[]) {
  const wrong: FieldProblem[] = [];
  for (const { spec, index } of children) {
    if (wrong.length === SHOWN) break;
    const problem = await intake.placeProblem(spec);
    if (problem === null) continue;
    const message = `in child ${index}, ${problem.field}: ${problem.message}`;
    wrong.push({ field: `/spec${problem.field}`, message });
  }
  if (wrong.length > 0) throw invalidSweep(wrong);
}
