import { presetRule, RULE_PRESETS } from '../../../plan/rule-presets.ts';
import { conditionInWords } from '../../../plan/rules.ts';
import { RULE_PRESET_NAMES, type RulePresets } from '../../../schemas/rules.ts';
import type { App } from '../../server/deps.ts';
import { READ } from '../../server/policy.ts';
import { problems } from '../../server/responses.ts';

/** GET /v1/rules/presets. */
export function addRulePresets(app: App): void {
  app.get(
    '/v1/rules/presets',
    {
      config: { policy: READ },
      schema: {
        operationId: 'listRulePresets',
        summary: 'List rule presets',
        description: 'Lists the values of `preset`, each with its condition in words and as a rule.',
        tags: ['verification'],
        response: { 200: { $ref: 'RulePresets#' }, ...problems() },
      },
    },
    async (): Promise<RulePresets> => ({
      items: RULE_PRESET_NAMES.map((name) => {
        const rule = presetRule(name);
        return { name, means: RULE_PRESETS[name].means, condition: conditionInWords(rule), rule };
      }),
    }),
  );
}
