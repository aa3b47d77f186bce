import { examples } from 'command-kit/examples';
import { CliError, EXIT } from 'command-kit/exit';
import { json, type Output } from 'command-kit/output';
import { wrapped } from 'command-kit/width';
import { type Command, Option } from 'commander';
import type { ExperimentSpec as ApiSpec } from 'echelon-client/calls';
import { stringify } from 'yaml';
import { EchelonError } from '../../core/errors.ts';
import type { Change, CheckFinding, Correction } from '../../engines/engine.ts';
import { namedTraining } from '../../engines/named-training.ts';
import { allRecipes, type ResolvedSpec, recipesWith } from '../../engines/registry.ts';
import { validateSpec } from '../../engines/validate-spec.ts';
import { commandLine, LINE_PER_PART } from '../../plan/command-line.ts';
import { previewPlan } from '../../plan/preview.ts';
import { resolveSpec } from '../../plan/resolve-spec.ts';
import { type ApiOptions, apiCommand, clientFor } from '../connection.ts';
import { readSpec } from '../folder-files.ts';

/** The parts of a plan that are printed, for a spec and for a recipe. */
interface Described {
  launch: Parameters<typeof commandLine>[0] & { files?: Readonly<Record<string, Uint8Array | string>> };
  changes?: readonly Change[];
  corrections: readonly Correction[];
  checks: readonly CheckFinding[];
}

/** `echelon plan`: the command that a spec, or a recipe of verl-agent, would run. */
function planCommand(output: Output): Command {
  return apiCommand('plan')
    .description(
      "Show the command that a spec, or a recipe of verl-agent, would run, and its differences from the recipe's script. Needs a server only if the spec names a training by its id.",
    )
    .argument('[file]', 'file with the spec, YAML or JSON; - is standard input')
    .addOption(
      new Option('--recipe <name>', 'show this recipe instead of a file').choices(
        allRecipes().map(({ name }) => name),
      ),
    )
    .option('--faithful', "with --recipe: exactly as the recipe's script runs it")
    .addHelpText(
      'after',
      examples(
        'echelon plan deploy/examples/verl-agent-hgpo.yaml',
        'echelon plan --recipe qwen2.5_1.5b_alfworld_train --faithful',
      ),
    )
    .action(
      async (file: string | undefined, options: ApiOptions & { recipe?: string; faithful?: boolean }) => {
        if ((file === undefined) === (options.recipe === undefined)) {
          throw new CliError(EXIT.usage, 'Give either the file of a spec, or a recipe with --recipe NAME.');
        }
        if (options.faithful && options.recipe === undefined) {
          throw new CliError(EXIT.usage, '--faithful needs --recipe NAME.');
        }
        const plan =
          file === undefined
            ? ofRecipe(options.recipe!, options.faithful ?? false)
            : await ofFile(file, options, output);
        if (options.json) output.line(json(plan));
        else for (const line of describe(plan, output.columns)) output.line(line);
      },
    );
}

function ofRecipe(name: string, faithful: boolean) {
  const recipes = recipesWith(name)!;
  const plan = faithful ? recipes.faithful(name) : recipes.corrected(name);
  const { program: module, overrides, environment } = plan;
  const launch = { module, arguments: overrides, environment };
  return { checks: [], ...plan, commandLine: commandLine(launch), launch };
}

async function ofFile(file: string, options: ApiOptions, output: Output) {
  const resolved = await resolvedFile(file, options, output);
  const { plan: launch, details, ...preview } = previewPlan(resolved);
  const { environment } = launch;
  return {
    resolved: resolved.spec,
    defaults: resolved.defaults,
    environment,
    ...details,
    ...preview,
    launch,
  };
}

/** The resolved spec of a file. Its problems become one error. */
async function resolvedFile(file: string, options: ApiOptions, output: Output): Promise<ResolvedSpec> {
  const input = await readSpec(file, output);
  try {
    const spec = validateSpec(input);
    // Only the API knows the training, what the caller may do, and the directories that a cluster allows.
    if (namedTraining(spec) === undefined) return resolveSpec(spec, { customCode: true });
    const body = spec as ApiSpec;
    const { resolved, defaults } = await (await clientFor(options)).post('/v1/plans', { body });
    return { spec: resolved as unknown as ResolvedSpec['spec'], defaults };
  } catch (error) {
    if (!(error instanceof EchelonError)) throw error;
    const lines = (error.problems ?? []).map(
      ({ field, message }) => `\n  ${field || 'the spec'}: ${message}`,
    );
    throw new CliError(EXIT.usage, `${error.message}${lines.join('')}`);
  }
}

function describe(plan: Described, width: number | undefined): string[] {
  const command = [commandLine(plan.launch, LINE_PER_PART), ...filesOf(plan.launch)];
  const lines: string[] = [];
  if (plan.changes?.length) {
    lines.push('', "Changes of the recipe's script that the spec asks for:");
    for (const change of plan.changes) lines.push(`  ${difference(change)}`);
  }
  if (plan.corrections.length > 0) {
    lines.push('', "Corrections of the recipe's script:");
    for (const one of plan.corrections) lines.push(`  ${difference(one)}`, `      ${one.reason}`);
  }
  if (plan.checks.length > 0) {
    lines.push('', 'Checks:');
    for (const { severity, message, remedy } of plan.checks)
      lines.push(`  ${severity}: ${message} ${remedy}`);
  }
  return [...command, ...lines.map((line) => wrapped(line, width))];
}

/** The files that the program reads in place of arguments. An engine that passes its settings on as arguments shows them there. */
function filesOf({ arguments: words, files = {} }: Described['launch']): string[] {
  if (words.includes('--')) return [];
  return Object.entries(files).flatMap(([name, content]) => [
    '',
    `${name}:`,
    ...stringify(JSON.parse(String(content)))
      .trimEnd()
      .split('\n')
      .map((line) => `  ${line}`),
  ]);
}

function difference({ key, from, to }: Change): string {
  return `${key}: ${from ?? '(not passed)'} → ${to ?? '(not passed)'}`;
}

/** The commands of this module by their names. */
export const commands = { plan: planCommand };
