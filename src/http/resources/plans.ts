import { Type } from 'typebox';
import { commandLine } from '../../plan/command-line.ts';
import { compilePlan } from '../../plan/compile-plan.ts';
import { checkExperiment } from '../../plan/verl-agent/checks.ts';
import { compileVerlAgent } from '../../plan/verl-agent/compile.ts';
import type { ExperimentSpec, ResolvedSpec } from '../../schemas/spec.ts';
import { resolveFor } from '../access/caller-projects.ts';
import { fingerprintOf } from '../fingerprint-of.ts';
import { requirePlace } from '../require-place.ts';
import type { App, RouteDeps } from '../server/deps.ts';
import { problems } from '../server/responses.ts';

/** POST /v1/plans: a dry run, which stores nothing. */
export function addPlans(app: App, { store }: Pick<RouteDeps, 'store'>): void {
  app.post(
    '/v1/plans',
    {
      config: { scope: 'read', idempotency: 'none' },
      schema: {
        operationId: 'planExperiment',
        summary: 'What a spec would run, without running it',
        description: 'Refuses what submitting it would refuse. Stores nothing.',
        tags: ['experiments'],
        body: Type.Unsafe<ExperimentSpec>({ $ref: 'ExperimentSpec#' }),
        response: {
          200: { $ref: 'PlanPreview#' },
          ...problems('invalid-spec'),
        },
      },
    },
    async (request) => {
      const resolved = await resolveFor(store, request.caller, request.body);
      await requirePlace(store, resolved.spec);
      const plan = compilePlan(resolved.spec);
      return {
        resolved: resolved.spec,
        defaults: resolved.defaults,
        fingerprint: fingerprintOf(resolved.spec),
        plan,
        commandLine: commandLine(plan),
        ...remarks(resolved),
      };
    },
  );
}

/** What the plan of a verl-agent spec makes differ from its recipe's script, and what is to be said of it beforehand. */
function remarks({ spec, defaults }: ResolvedSpec) {
  if (spec.engine !== 'verl-agent') return { changes: [], corrections: [], checks: [] };
  const { changes, corrections } = compileVerlAgent(spec);
  return { changes, corrections, checks: checkExperiment({ spec, defaults }) };
}
