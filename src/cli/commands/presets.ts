import { Command } from 'commander';
import { type PaperFigures, PRESETS, type Preset } from '../../plan/verl-agent/presets.ts';
import { nearestName } from '../../schemas/nearest.ts';
import { CliError, EXIT } from '../exit.ts';
import { json, type Output, table } from '../output.ts';

/** `echelon presets`: sweeps that reproduce the paper's tables, with its figures beside. */
export function presetsCommand(output: Output): Command {
  return new Command('presets')
    .description("list the sweeps that reproduce the paper's tables, or print one with the paper's figures")
    .argument('[name]', 'print this one')
    .option('--json', 'print JSON, with every spec')
    .action((name: string | undefined, options: { json?: boolean }) => {
      const chosen = name === undefined ? PRESETS : [presetNamed(name)];
      if (options.json) output.line(json(name === undefined ? chosen : chosen[0]));
      else if (name === undefined) output.line(overview(chosen));
      else for (const line of describe(chosen[0]!)) output.line(line);
    });
}

function presetNamed(name: string): Preset {
  const names = PRESETS.map((preset) => preset.name);
  const found = PRESETS.find((preset) => preset.name === name);
  if (found) return found;
  const near = nearestName(name, names);
  const hint = near === undefined ? `there are ${names.join(', ')}` : `did you mean ${near}?`;
  throw new CliError(EXIT.usage, `There is no preset ${JSON.stringify(name)}; ${hint}`);
}

function overview(presets: readonly Preset[]): string {
  const rows = presets.map(({ name, title, runs }) => [
    name,
    runs.length,
    runs.reduce((sum, { evaluations }) => sum + evaluations.length, 0),
    title,
  ]);
  return table(['PRESET', 'TRAININGS', 'EVALUATIONS', 'WHAT'], rows);
}

function describe({ title, notes, runs }: Preset): string[] {
  const shown = (figure: number | undefined): string => (figure === undefined ? '-' : figure.toFixed(2));
  const columns: [string, keyof PaperFigures][] = [
    ['IN-DOMAIN', 'inDomainSuccess'],
    ['OUT-OF-DOMAIN', 'outOfDomainSuccess'],
    ['WEBSHOP SCORE', 'webshopScore'],
    ['WEBSHOP SUCCESS', 'webshopSuccess'],
  ];
  const rows = runs.map(({ name, train, evaluations, figures }) => [
    name,
    train.recipe,
    evaluations.length,
    ...columns.map(([, key]) => shown(figures[key])),
  ]);
  const head = ['TRAINING', 'RECIPE', 'EVALUATIONS', ...columns.map(([name]) => name)];
  return [title, '', table(head, rows), '', ...notes, 'Figures are those of the paper, in per cent.'];
}
