import { previewPlan } from '../../../plan/preview.ts';
import { createIntake } from '../../intake/intake.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { SPEC_BODY } from '../common.ts';

/** POST /v1/plans: a dry run, which stores nothing. */
export function addPlans(app: App, deps: Pick<RouteDeps, 'store' | 'settings'>): void {
  route(app, {
    at: 'POST /v1/plans',
    operationId: 'planExperiment',
    scope: 'read',
    idempotency: 'ignored',
    audit: false,
    summary: 'Plan an experiment without running it',
    description: 'Refuses every spec that a submission would refuse. Stores nothing.',
    tag: 'experiments',
    ...SPEC_BODY,
    answer: 'PlanPreview',
    problems: ['invalid-spec'],
    handler: async (request) => {
      const resolved = await createIntake(deps, request.caller).take(request.body);
      const { details: _details, ...preview } = previewPlan(resolved);
      return { resolved: resolved.spec, defaults: resolved.defaults, ...preview };
    },
  });
}
