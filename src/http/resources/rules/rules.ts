import { presetRule, RULE_PRESETS } from '../../../plan/rule-presets.ts';
import { conditionInWords } from '../../../plan/rules.ts';
import {
  EARLY_STOPPING,
  type ExperimentRules,
  type ResolvedRule,
  RULE_PRESET_NAMES,
  type RulePresets,
} from '../../../schemas/rules.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { ExperimentParams, experimentOf } from '../common.ts';

/** The rules of an experiment, and the presets of rules. */
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

  route(app, {
    at: 'GET /v1/rules/presets',
    operationId: 'listRulePresets',
    summary: 'List rule presets',
    description: 'Lists the values of `preset`, each with its condition in words and as a rule.',
    tag: 'verification',
    answer: 'RulePresets',
    handler: async (): Promise<RulePresets> => ({
      items: RULE_PRESET_NAMES.map((name) => {
        const rule = presetRule(name);
        return { name, means: RULE_PRESETS[name].means, condition: conditionInWords(rule), rule };
      }),
    }),
  });
}

/** The rule of a sweep shows among those of its child, which does not state it. */
function earlyStopping(name: string): ResolvedRule {
  return { name: name || EARLY_STOPPING, when: {}, do: 'stop', for: 1, after: 0 };
}
