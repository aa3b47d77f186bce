import { Text } from '../../../schemas/answer-parts.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import type { Project } from '../../../schemas/project.ts';
import { cutoffsOf, eventLogDaysOf, policyOf, RETENTION_STAGES } from '../../../schemas/retention.ts';
import type { Store } from '../../../store/store.ts';
import { projectOf } from '../../access/caller-projects.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';

const Params = StrictObject({ name: Text('Name of the project.') });

const DAY_MS = 24 * 3600 * 1000;

/** GET /v1/projects/:name/retention/preview. */
export function addRetention(app: App, { store, clock }: RouteDeps): void {
  route(app, {
    at: 'GET /v1/projects/:name/retention/preview',
    operationId: 'previewRetention',
    summary: 'Preview what retention would delete of a project',
    description: 'Applies the current retention of the project. Deletes nothing.',
    tag: 'access',
    params: Params,
    answer: 'RetentionPreview',
    problems: ['project-not-found'],
    handler: async (request) => {
      const { name } = request.params;
      return preview(store, await projectOf(store, request.caller, name), clock.now());
    },
  });
}

/** What retention would delete of a project at the time `at` (ms). */
async function preview(store: Pick<Store, 'retention'>, { name, retention }: Project, at: number) {
  const policy = policyOf(retention);
  const cutoffs = cutoffsOf(policy, at);
  const stages = await Promise.all(
    RETENTION_STAGES.map(async (stage) => {
      const endedBefore = cutoffs[stage];
      const figures =
        endedBefore === null
          ? { experiments: 0, bytes: 0, complete: true, first: [], kept: 0 }
          : await store.retention.dueFigures(stage, name, endedBefore);
      return { stage, days: policy[stage], endedBefore, ...figures };
    }),
  );
  const days = eventLogDaysOf(retention);
  const endedBefore = days === null ? null : at - days * DAY_MS;
  const figures =
    endedBefore === null
      ? { experiments: 0, complete: true }
      : await store.retention.forgettingFigures(name, endedBefore);
  return {
    project: name,
    at,
    stages: stages.map(({ kept: _kept, ...stage }) => stage),
    eventLogs: { days, endedBefore, ...figures },
    retained: stages[0]!.kept,
  };
}
