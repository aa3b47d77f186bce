import { presetRule, RULE_PRESETS } from '../../../plan/rule-presets.ts';
import { conditionInWords } from '../../../plan/rules.ts';
import { RULE_PRESET_NAMES, type RulePresets } from '../../../schemas/rules.ts';
import type { App } from '../../server/deps.ts';
import { route } from '../../server/route.ts';

/** GET /v1/rules/presets. */
export function addRulePresets(app: App): void {
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
