import { nearestName } from 'command-kit/nearest';
import { EchelonError } from '../../../core/errors.ts';
import { newSweepId } from '../../../core/ids.ts';
import type { Preset } from '../../../engines/engine.ts';
import { fingerprintOf, type ResolvedSpec } from '../../../engines/registry.ts';
import { type ChainDraft, draftPreset } from '../../../plan/preset-sweep.ts';
import { childValues } from '../../../plan/sweep.ts';
import { Text } from '../../../schemas/answer-parts.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import { SubmitPreset } from '../../../schemas/preset.ts';
import type { SweepAccepted } from '../../../schemas/sweep.ts';
import type { Cluster } from '../../../store/clusters/types.ts';
import type { Store } from '../../../store/store.ts';
import type { SweepInput } from '../../../store/sweeps/types.ts';
import { inOwnProject } from '../../access/caller-projects.ts';
import { createIntake } from '../../intake/intake.ts';
import { createFitCheck, neverFits } from '../../intake/placement.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { idempotencyOf } from '../../server/idempotency.ts';
import { route } from '../../server/route.ts';
import { NEW_WORK_REFUSALS, SWEEP_ACCEPTED } from '../common.ts';
import { presetNamed } from './presets.ts';

const Params = StrictObject({ name: Text('Name of the preset.') });

/** POST /v1/presets/:name/submit. */
export function addPresetSubmit(app: App, deps: RouteDeps): void {
  const { store } = deps;
  route(app, {
    at: 'POST /v1/presets/:name/submit',
    operationId: 'submitPreset',
    idempotency: 'own',
    summary: 'Submit a preset: reproduce a table of the paper by a sweep',
    description:
      'Trainings are queued at once. Each evaluation is queued when its training has succeeded, with the checkpoint of that training. If a training does not succeed, its evaluations never run. If a named cluster is too small for some trainings, the request is refused with their names.',
    tag: 'sweeps',
    params: Params,
    body: SubmitPreset,
    answers: SWEEP_ACCEPTED,
    problems: ['not-found', ...NEW_WORK_REFUSALS],
    handler: async (request, reply) => {
      const preset = presetNamed(request.params.name);
      const body = inOwnProject(request.caller, request.body);
      refuseUnknownRuns(preset, body.runs);
      const draft = draftPreset(preset, body);
      const intake = createIntake(deps, request.caller);
      const resolved: ResolvedSpec[] = [];
      for (const [index, { spec }] of draft.spec.children.entries())
        resolved.push(await intake.take(spec, { waits: Object.hasOwn(draft.after, index) }));
      const clusters = await intake.clusters();
      if (body.cluster !== undefined) refuseTooLarge(draft, resolved, clusters);
      const idempotency = idempotencyOf(request);
      const { id, created } = await create(store, draft, {
        project: resolved[0]!.spec.project,
        owner: request.caller.name,
        fingerprints: resolved.map(({ spec }) => fingerprintOf(spec)),
        ...(idempotency && { idempotency }),
      });
      request.audited = !created;
      const self = `/v1/sweeps/${id}`;
      const fit = createFitCheck();
      for (const { spec } of resolved) fit.add(spec);
      const warnings = fit.warnings(clusters);
      const accepted: SweepAccepted = { id, self, count: draft.entries.length, warnings };
      return reply.code(202).header('location', self).send(accepted);
    },
  });
}

function refuseUnknownRuns({ runs }: Preset, named: readonly string[] = []): void {
  const names = runs.map(({ name }) => name);
  const unknown = named.findIndex((name) => !names.includes(name));
  if (unknown < 0) return;
  const near = nearestName(named[unknown]!, names);
  const hint = near ? `did you mean ${near}?` : `there are ${names.join(', ')}`;
  throw new EchelonError('invalid-spec', 'The preset has no such training.', {
    problems: [{ field: `/runs/${unknown}`, message: `is none of its trainings; ${hint}` }],
  });
}

/** Refuses a preset of which some trainings are too large for the chosen cluster, and lists them. */
function refuseTooLarge(
  { axes, entries }: ChainDraft,
  resolved: readonly ResolvedSpec[],
  clusters: readonly Cluster[],
): void {
  const reasons = new Map<unknown, string>();
  const runs = new Set<unknown>();
  entries.forEach((entry, index) => {
    const run = childValues(axes, entry)['/run'];
    runs.add(run);
    const reason = neverFits(resolved[index]!.spec, clusters);
    if (reason !== null && !reasons.has(run)) reasons.set(run, reason);
  });
  if (reasons.size === 0) return;
  const others = [...runs].filter((run) => !reasons.has(run));
  const remedy =
    others.length === 0 ? 'choose another cluster' : `choose another cluster, or only ${others.join(', ')}`;
  throw new EchelonError(
    'invalid-spec',
    `The cluster is too small for ${reasons.size} of ${runs.size} trainings.`,
    {
      problems: [...reasons].map(([run, reason]) => ({
        field: '/runs',
        message: `${run} ${reason}; ${remedy}`,
      })),
    },
  );
}

async function create(
  store: Pick<Store, 'sweeps'>,
  { name, method, spec, axes, entries, after }: ChainDraft,
  more: Pick<SweepInput, 'project' | 'owner' | 'fingerprints' | 'idempotency'>,
): Promise<{ id: string; created: boolean }> {
  return await store.sweeps.create({
    id: newSweepId(),
    name,
    method,
    seed: null,
    spec,
    axes,
    entries,
    after,
    ...more,
  });
}
