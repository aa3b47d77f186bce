import { Type } from 'typebox';
import type { ExperimentSpec } from '../../../engines/registry.ts';
import { previewPlan } from '../../../plan/preview.ts';
import { createIntake } from '../../intake/intake.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { CREATE } from '../../server/policy.ts';
import { problems } from '../../server/responses.ts';

/** POST /v1/plans: a dry run, which stores nothing. */
export function addPlans(app: App, deps: Pick<RouteDeps, 'store' | 'settings'>): void {
  app.post(
    '/v1/plans',
    {
      config: { policy: { ...CREATE, scope: 'read', idempotency: 'ignored', audit: false } },
      schema: {
        operationId: 'planExperiment',
        summary: 'Plan an experiment without running it',
        description: 'Refuses every spec that a submission would refuse. Stores nothing.',
        tags: ['experiments'],
        body: Type.Unsafe<ExperimentSpec>({ $ref: 'ExperimentSpec#' }),
        response: {
          200: { $ref: 'PlanPreview#' },
          ...problems('invalid-spec'),
        },
      },
    },
    async (request) => {
      const resolved = await createIntake(deps, request.caller).take(request.body);
      const { details: _details, ...preview } = previewPlan(resolved);
      return { resolved: resolved.spec, defaults: resolved.defaults, ...preview };
    },
  );
}
