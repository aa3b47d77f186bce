import { conditionInWords } from '../../../plan/rules.ts';
import { EARLY_STOPPING, type ExperimentRules, type ResolvedRule } from '../../../schemas/rules.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { ExperimentParams, experimentOf } from '../common.ts';

/** GET /v1/experiments/:id/rules. */
export function addRules(app: App, { store }: RouteDeps): void {
  route(app, {
    at: 'GET /v1/experiments/:id/rules',
    operationId: 'getRules',
    summary: 'Get the rules of an experiment and their firings',
    description: 'A rule fires at most once in an attempt. Its evidence lists the values.',
    tag: 'verification',
    params: ExperimentParams,
    answer: 'ExperimentRules',
    problems: ['not-found'],
    handler: async (request): Promise<ExperimentRules> => {
      const { rules, marks, stoppedBy, resolved } = await experimentOf(store, request, request.params.id);
      const stated = new Map(
        ((resolved as { rules?: ResolvedRule[] }).rules ?? []).map((rule) => [rule.name, rule]),
      );
      return {
        rules: rules.map(({ name, fired }) => {
          const rule = stated.get(name) ?? earlyStopping(name);
          const condition = fired[0]?.evidence.condition ?? conditionInWords(rule);
          return { ...rule, condition, fired };
        }),
        marks,
        stoppedBy,
      };
    },
  });
}

/** The rule of a sweep shows among those of its child, which does not state it. */
function earlyStopping(name: string): ResolvedRule {
  return { name: name || EARLY_STOPPING, when: {}, do: 'stop', for: 1, after: 0 };
}
