import { setImmediate as breathe } from 'node:timers/promises';
import { nearestName } from 'echelon-verify/text/nearest';
import type { FastifyReply } from 'fastify';
import { EchelonError } from '../../../core/errors.ts';
import type { Caller } from '../../../core/scopes.ts';
import { newSweepId } from '../../../core/sweep-ids.ts';
import { checkpointOf } from '../../../engines/named-training.ts';
import { fingerprintOf, type ResolvedSpec } from '../../../engines/registry.ts';
import { resolveSpec } from '../../../plan/resolve-spec.ts';
import {
  childValues,
  createSweepCheck,
  draftSweep,
  invalidSweep,
  type SweepChildSpec,
  type SweepDraft,
} from '../../../plan/sweep.ts';
import { canonicalJson } from '../../../schemas/json.ts';
import { type SweepAccepted, type SweepPreview, SweepRequest } from '../../../schemas/sweep.ts';
import type { Cluster } from '../../../store/clusters/contract.ts';
import type { Store } from '../../../store/store.ts';
import { inOwnProject, permissionsOf, projectProblem } from '../../access/caller-projects.ts';
import { withNamedTraining } from '../../access/named-training.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { idempotencyOf } from '../../server/idempotency.ts';
import { CREATE } from '../../server/policy.ts';
import { problems } from '../../server/responses.ts';
import { createSlots, type Slots } from '../../server/slots.ts';
import { NEW_WORK_REFUSALS, SWEEP_ACCEPTED } from '../common.ts';
import { checkpointPlaceProblem } from '../plans/checkpoint-place.ts';
import { labelProblem } from '../plans/label-problem.ts';
import { createFitCheck } from './never-fits.ts';

/** Children are judged for so long before other requests get their turn; in ms. */
const TURN_MS = 10;
/** Sweeps that one server checks at once: of one caller, and of all. */
const CHECKS = 2;
const MAX_CHECKS = 4;
/** Children shown by a preview. */
const SHOWN = 10;

/** POST /v1/sweeps and its dry run. */
export function addSweepSubmit(app: App, deps: RouteDeps): void {
  // A check may judge 10,000 children, and every other request waits for its turns.
  const checks = createSlots(
    CHECKS,
    `No more than ${CHECKS} sweeps of a caller are checked at once. Wait for the response to another request.`,
    { most: MAX_CHECKS, refusal: `The server checks ${MAX_CHECKS} sweeps, its most. Try again later.` },
  );
  addSubmit(app, deps, checks);
  addPreview(app, deps, checks);
}

function addSubmit(app: App, deps: RouteDeps, checks: Slots): void {
  const { store } = deps;
  app.post(
    '/v1/sweeps',
    {
      config: { policy: { ...CREATE, idempotency: 'own' } },
      schema: {
        operationId: 'submitSweep',
        summary: 'Submit a sweep: one spec with many values',
        description:
          'Every child is validated first; an invalid child refuses the whole sweep. Status 202 means that the sweep is stored durably. Its children are queued one after another.',
        tags: ['sweeps'],
        body: SweepRequest,
        response: {
          ...SWEEP_ACCEPTED,
          ...problems(...NEW_WORK_REFUSALS),
        },
      },
    },
    async (request, reply) => {
      const { body, caller } = request;
      const release = checks.take(caller.id);
      const { draft, fingerprints, project, warnings } = await judge(deps, { caller, body, reply }).finally(
        release,
      );
      const idempotency = idempotencyOf(request);
      const { id, created } = await store.sweeps.create({
        ...{ id: newSweepId(), project, name: body.name, method: body.method, fingerprints },
        earlyStopping: body.earlyStopping ?? null,
        ...{ seed: draft.seed, spec: draft.spec, axes: draft.axes, entries: draft.entries },
        ...(idempotency && { idempotency }),
      });
      request.audited = !created;
      const self = `/v1/sweeps/${id}`;
      const accepted: SweepAccepted = { id, self, count: draft.entries.length, warnings };
      return reply.code(202).header('location', self).send(accepted);
    },
  );
}

function addPreview(app: App, deps: RouteDeps, checks: Slots): void {
  app.post(
    '/v1/sweeps/preview',
    {
      config: { policy: { ...CREATE, scope: 'read', idempotency: 'ignored', audit: false } },
      schema: {
        operationId: 'previewSweep',
        summary: 'Preview a sweep without running it',
        description: `Checks every child, counts them and shows the first ${SHOWN}. Stores nothing.`,
        tags: ['sweeps'],
        body: SweepRequest,
        response: { 200: { $ref: 'SweepPreview#' }, ...problems('invalid-spec') },
      },
    },
    async (request, reply): Promise<SweepPreview> => {
      const { body, caller } = request;
      const release = checks.take(caller.id);
      const { draft, first, warnings } = await judge(deps, { caller, body, reply }).finally(release);
      return { ...preview(draft, first), warnings };
    },
  );
}

/** The draft of a sweep in the caller's project, with the checkpoint of a training that its spec names. */
async function draftFor(store: Store, caller: Caller, body: SweepRequest): Promise<SweepDraft> {
  const placed = inOwnProject(caller, body.spec);
  const spec = await withNamedTraining(store, caller, placed).catch((error: unknown) => {
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
async function judge(
  deps: RouteDeps,
  { caller, body, reply }: { caller: Caller; body: SweepRequest; reply: FastifyReply },
) {
  const { store } = deps;
  const draft = await draftFor(store, caller, body);
  // Where children name clusters by themselves, only what is allowed on every one counts.
  const anywhere = draft.axes.some(({ pointer }) => pointer === '/cluster' || pointer === '');
  const { cluster = null } = draft.spec as { cluster?: string | null };
  const permissions = await permissionsOf(deps, caller, anywhere ? null : cluster, true);
  const check = createSweepCheck(draft, (spec) => resolveSpec(spec, permissions));
  const fingerprints: (string | null)[] = [];
  const first: SweepChildSpec[] = [];
  const clusters = new Map<string, number>();
  const labels = new Map<string, WantedLabels>();
  const checkpoints = new Map<string, { spec: ResolvedSpec['spec']; index: number }>();
  const fit = createFitCheck();
  let project = '';
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
    if (spec.cluster !== null && !clusters.has(spec.cluster)) clusters.set(spec.cluster, index);
    noteLabels(spec, index, labels);
    const { directory } = checkpointOf(spec) ?? {};
    if (directory !== undefined) {
      checkpoints.set(canonicalJson([directory, spec.cluster, spec.clusterLabels]), { spec, index });
    }
    fit.add(spec);
    if (first.length < SHOWN) first.push(child);
    fingerprints.push(fingerprintOf(spec));
    project = spec.project;
  }
  check.refuse();
  const problem = await projectProblem(store, caller, project);
  if (problem) throw invalidSweep([{ ...problem, field: `/spec${problem.field}` }]);
  const known = await store.clusters.list();
  requireClusters(known, clusters);
  requireLabels(known, labels);
  await requireCheckpoints(store, known, checkpoints);
  return { draft, fingerprints, first, project, warnings: fit.warnings(known) };
}

/** Labels that a child asks for, and the first that does. */
interface WantedLabels {
  cluster: string | null;
  clusterLabels: Readonly<Record<string, string>>;
  index: number;
}

function noteLabels(
  { cluster, clusterLabels }: Omit<WantedLabels, 'index'>,
  index: number,
  wanted: Map<string, WantedLabels>,
): void {
  if (Object.keys(clusterLabels).length === 0) return;
  const key = canonicalJson({ cluster, clusterLabels });
  if (!wanted.has(key)) wanted.set(key, { cluster, clusterLabels, index });
}

/** Labels that no cluster has would wait forever as well. */
function requireLabels(known: readonly Cluster[], wanted: ReadonlyMap<string, WantedLabels>): void {
  const wrong = [...wanted.values()].flatMap(({ index, ...asked }) => {
    const problem = labelProblem(asked, known);
    return problem === null
      ? []
      : [
          {
            field: '/spec/clusterLabels',
            message: `in child ${index}, ${problem.field}: ${problem.message}`,
          },
        ];
  });
  if (wrong.length > 0) throw invalidSweep(wrong.slice(0, SHOWN));
}

/** A checkpoint is not on every cluster. `wanted`: a child for each checkpoint directory and choice of clusters. */
async function requireCheckpoints(
  store: Store,
  known: readonly Cluster[],
  wanted: ReadonlyMap<string, { spec: ResolvedSpec['spec']; index: number }>,
): Promise<void> {
  for (const { spec, index } of wanted.values()) {
    const problem = await checkpointPlaceProblem(store, spec, known);
    if (problem === null) continue;
    const message = `in child ${index}, ${problem.field}: ${problem.message}`;
    throw invalidSweep([{ field: '/spec/cluster', message }]);
  }
}

/** A name that no cluster has would wait forever. `wanted`: the first child that names it. */
function requireClusters(clusters: readonly Cluster[], wanted: ReadonlyMap<string, number>): void {
  const known = clusters.map(({ name }) => name);
  const unknown = [...wanted].filter(([name]) => !known.includes(name));
  if (unknown.length === 0) return;
  throw invalidSweep(
    unknown.slice(0, SHOWN).map(([name, index]) => {
      const near = nearestName(name, known);
      const hint = near
        ? `did you mean ${near}?`
        : `known: ${known.join(', ') || 'none'}; leave it out for any`;
      return {
        field: '/spec/cluster',
        message: `in child ${index}, /cluster: is not the name of a cluster; ${hint}`,
      };
    }),
  );
}
