import { Command } from 'commander';
import { presetRule, RULE_PRESETS } from '../../plan/rule-presets.ts';
import { conditionInWords } from '../../plan/rules.ts';
import { type ExperimentRules, RULE_PRESET_NAMES } from '../../schemas/rules.ts';
import { type ConnectionOptions, clientFor, withConnection } from '../connection.ts';
import { experimentNamed, NAMES_IT } from '../names.ts';
import { inert, json, type Output, table } from '../output.ts';

type Options = ConnectionOptions & { json?: boolean };

/** `echelon rules [id]`: the conditions that have a name; or what an experiment is watched for, and what was found. */
export function rulesCommand(output: Output): Command {
  return withConnection(new Command('rules'))
    .summary('list the conditions for rules, or the rules of an experiment')
    .description(
      'list the conditions that a rule can name, or show the rules of an experiment and when they fired',
    )
    .argument('[id]', `an experiment: ${NAMES_IT}`)
    .option('--json', 'print JSON, for scripts')
    .addHelpText('after', '\nExamples:\n  echelon rules\n  echelon rules exp-00cz8h3k7n2q4r5s6t7v')
    .action(async (name: string | undefined, options: Options) => {
      if (name === undefined) return output.line(options.json ? json(presets()) : presetTable());
      const client = await clientFor(options);
      const id = await experimentNamed(client, name);
      const found = await client.get<ExperimentRules>(`/v1/experiments/${encodeURIComponent(id)}/rules`);
      output.line(options.json ? json(found) : describeRules(found));
    });
}

function presets() {
  return RULE_PRESET_NAMES.map((name) => {
    const rule = presetRule(name);
    return { name, means: RULE_PRESETS[name].means, condition: conditionInWords(rule), rule };
  });
}

function presetTable(): string {
  return table(
    ['PRESET', 'CONDITION', 'MEANS'],
    presets().map(({ name, condition, means }) => [name, condition, means]),
  );
}

/** A table of the rules, then a sentence for each time that one fired. */
function describeRules({ rules, stoppedBy }: ExperimentRules): string {
  if (rules.length === 0) return 'It has no rules.';
  const rows = rules.map(({ name, do: action, condition, fired }) => [
    inert(name),
    action,
    inert(condition),
    fired.length === 0
      ? '-'
      : fired.map(({ attempt, step }) => `attempt ${attempt}, step ${step}`).join('; '),
  ]);
  const lines = rules.flatMap(({ fired }) => fired.map(({ reason }) => `  ${inert(reason)}`));
  return [
    table(['RULE', 'DOES', 'CONDITION', 'FIRED'], rows),
    ...(lines.length > 0 ? ['', ...lines] : []),
    ...(stoppedBy === null ? [] : ['', `stopped by ${inert(stoppedBy.rule)}`]),
  ].join('\n');
}
