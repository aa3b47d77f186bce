import { examples } from 'command-kit/examples';
import { inert } from 'command-kit/inert';
import { json, type Output } from 'command-kit/output';
import { table } from 'command-kit/table';
import { wrapped } from 'command-kit/width';
import type { Command } from 'commander';
import type { ExperimentRules } from 'echelon-client/calls';
import { presetRule, RULE_PRESETS } from '../../plan/rule-presets.ts';
import { conditionInWords } from '../../plan/rules.ts';
import { RULE_PRESET_NAMES } from '../../schemas/rules.ts';
import { type ApiOptions, apiCommand, clientFor } from '../connection.ts';
import { experimentNamed, NAME_FORMS } from '../names.ts';

/** `echelon rules [ID]`: the rule presets, or the rules of an experiment. */
function rulesCommand(output: Output): Command {
  return apiCommand('rules')
    .alias('rule')
    .description(
      'Show the rules of an experiment and when they fired. Without an id, list the presets for rules.',
    )
    .argument('[id]', `experiment: ${NAME_FORMS}`)
    .addHelpText('after', examples('echelon rules', 'echelon rules exp-00cz8h3k7n2q4r5s6t7v'))
    .action(async (name: string | undefined, options: ApiOptions) => {
      if (name === undefined)
        return output.line(options.json ? json(presets()) : presetTable(output.columns));
      const client = await clientFor(options);
      const id = await experimentNamed(client, name);
      const found = await client.get('/v1/experiments/{id}/rules', { path: { id } });
      output.line(options.json ? json(found) : describeRules(found, output.columns));
    });
}

function presets() {
  return RULE_PRESET_NAMES.map((name) => {
    const rule = presetRule(name);
    return { name, means: RULE_PRESETS[name].means, condition: conditionInWords(rule), rule };
  });
}

function presetTable(width: number | undefined): string {
  return table(
    ['PRESET', 'CONDITION', 'MEANS'],
    presets().map(({ name, condition, means }) => [name, condition, means]),
    width,
  );
}

/** A table of the rules, then one line for each time that a rule fired. */
function describeRules({ rules, stoppedBy }: ExperimentRules, width: number | undefined): string {
  if (rules.length === 0) return 'The experiment has no rules.';
  const rows = rules.map(({ name, do: action, condition, fired }) => [
    inert(name),
    action,
    inert(condition),
    fired.length === 0
      ? '-'
      : fired.map(({ attempt, step }) => `attempt ${attempt}, step ${step}`).join('; '),
  ]);
  const lines = rules.flatMap(({ fired }) => fired.map(({ reason }) => wrapped(`  ${inert(reason)}`, width)));
  return [
    table(['RULE', 'DOES', 'CONDITION', 'FIRED'], rows, width),
    ...(lines.length > 0 ? ['', ...lines] : []),
    ...(stoppedBy === null ? [] : ['', `stopped by ${inert(stoppedBy.rule)}`]),
  ].join('\n');
}

/** The commands of this module by their names. */
export const commands = { rules: rulesCommand };
