import { Command, Option } from 'commander';
import { EchelonError } from '../../core/errors.ts';
import type { Change, CheckFinding, Correction } from '../../engines/engine.ts';
import { validateSpec } from '../../engines/validate-spec.ts';
import { correctedPlan, faithfulPlan } from '../../engines/verl-agent/recipe-plan.ts';
import { RECIPE_NAMES, type RecipeName } from '../../engines/verl-agent/spec.ts';
import { commandLine } from '../../plan/command-line.ts';
import { previewPlan } from '../../plan/preview.ts';
import { resolveSpec } from '../../plan/resolve-spec.ts';
import { CliError, EXIT } from '../exit.ts';
import { json, type Output } from '../output.ts';
import { readSpecFile } from '../spec-file.ts';

interface Options {
  recipe?: RecipeName;
  faithful?: boolean;
  json?: boolean;
}

/** What is said of a plan, whatever it was made from. */
interface Described {
  commandLine: string;
  environment: Record<string, string>;
  changes?: readonly Change[];
  corrections: readonly Correction[];
  checks: readonly CheckFinding[];
}

/** `echelon plan`: what a spec, or a recipe of verl-agent, would run; asks no server. */
export function planCommand(output: Output): Command {
  return new Command('plan')
    .summary('show what a spec, or a recipe of verl-agent, would run')
    .description('show what a spec, or a recipe of verl-agent, would run; needs no server')
    .argument('[file]', 'the spec, YAML or JSON; - reads standard input')
    .addOption(new Option('--recipe <name>', 'instead of a file').choices(RECIPE_NAMES))
    .option('--faithful', "with --recipe: exactly as the recipe's script runs it")
    .option('--json', 'print JSON, for scripts')
    .addHelpText(
      'after',
      '\nExamples:\n  echelon plan deploy/examples/verl-agent-hgpo.yaml\n  echelon plan --recipe qwen2.5_1.5b_alfworld_train --faithful',
    )
    .action(async (file: string | undefined, options: Options) => {
      if ((file === undefined) === (options.recipe === undefined)) {
        throw new CliError(EXIT.usage, 'Name either a file or, with --recipe, a recipe.');
      }
      if (options.faithful && options.recipe === undefined) {
        throw new CliError(EXIT.usage, '--faithful goes with --recipe.');
      }
      const plan =
        file === undefined ? ofRecipe(options.recipe!, options.faithful ?? false) : await ofFile(file);
      if (options.json) output.line(json(plan));
      else for (const line of describe(plan)) output.line(line);
    });
}

function ofRecipe(name: RecipeName, faithful: boolean) {
  const plan = faithful ? faithfulPlan(name) : correctedPlan(name);
  const { program: module, overrides, environment } = plan;
  return { checks: [], ...plan, commandLine: commandLine({ module, arguments: overrides, environment }) };
}

async function ofFile(file: string) {
  const resolved = await problemsSaid(file);
  const { plan: launch, details, ...preview } = previewPlan(resolved);
  const { environment } = launch;
  return {
    ...{ resolved: resolved.spec, defaults: resolved.defaults, environment },
    ...details,
    ...preview,
    launch,
  };
}

async function problemsSaid(file: string) {
  const input = await readSpecFile(file);
  try {
    // Which directories of which cluster are allowed is for the api to say.
    return resolveSpec(validateSpec(input), { codePaths: ['/'] });
  } catch (error) {
    if (!(error instanceof EchelonError)) throw error;
    const lines = (error.problems ?? []).map(({ field, message }) => `\n  ${field || 'the spec'} ${message}`);
    throw new CliError(EXIT.usage, `${error.message}${lines.join('')}`);
  }
}

function describe(plan: Described): string[] {
  const lines = [plan.commandLine];
  if (plan.changes?.length) {
    lines.push('', "As the spec asks, unlike the recipe's script:");
    for (const change of plan.changes) lines.push(`  ${difference(change)}`);
  }
  if (plan.corrections.length > 0) {
    lines.push('', "Corrected against the recipe's script:");
    for (const one of plan.corrections) lines.push(`  ${difference(one)}`, `      ${one.reason}`);
  }
  if (plan.checks.length > 0) {
    lines.push('', 'To know before it runs:');
    for (const { severity, message, remedy } of plan.checks)
      lines.push(`  ${severity}: ${message} ${remedy}`);
  }
  return lines;
}

function difference({ key, from, to }: Change): string {
  return `${key}: ${from ?? '(not passed)'} → ${to ?? '(not passed)'}`;
}
