import { examples } from 'command-kit/examples';
import { CliError, EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import { nearestName } from 'command-kit/nearest';
import { json, type Output } from 'command-kit/output';
import { fittedTable, table, textColumn } from 'command-kit/table';
import { wrapped } from 'command-kit/width';
import { Command } from 'commander';
import type { SubmitPreset } from 'echelon-client/calls';
import type { PaperFigures, Preset } from '../../engines/engine.ts';
import { allPresets } from '../../engines/registry.ts';
import { type ApiOptions, apiCommand, clientFor, withIdempotencyKey } from '../connection.ts';
import { group } from '../group.ts';
import { stated } from '../row.ts';
import { submitted } from '../submission.ts';
import { watchSweep } from './sweep-watch.ts';

type SubmitOptions = ApiOptions &
  Pick<SubmitPreset, 'project' | 'cluster' | 'home'> & {
    checkpointLabel?: string;
    only?: string[];
    idempotencyKey?: string;
    watch?: boolean;
  };

function list(output: Output): Command {
  return new Command('ls')
    .description(
      "List the presets, or the trainings of one preset with the paper's figures. Needs no server.",
    )
    .argument('[name]', 'name of the preset')
    .option('--json', 'print JSON, with every spec')
    .addHelpText('after', examples('echelon presets ls', 'echelon presets ls paper-main-table'))
    .action((name: string | undefined, options: { json?: boolean }) => {
      const presets = name === undefined ? allPresets() : presetOf(name);
      const { columns } = output;
      if (options.json) return output.line(json(presets));
      if ('runs' in presets)
        for (const line of describe(presets, columns)) output.line(wrapped(line, columns));
      else output.line(overview(presets, columns));
    });
}

function submit(output: Output): Command {
  return withIdempotencyKey(apiCommand('submit'))
    .description(
      "Submit a preset as one sweep of trainings and their evaluations. `echelon sweeps compare ID` then shows the results beside the paper's figures.",
    )
    .argument('<name>', 'name of the preset')
    .option('--project <project>', 'project of the sweep')
    .option('--cluster <name>', 'cluster that runs the sweep')
    .option('--home <directory>', "verl-agent checkout on the cluster (default: the cluster's)")
    .option('--checkpoint-label <label>', 'separates the checkpoints from those of another submission')
    .option('--only <training...>', 'run only these trainings')
    .option('-w, --watch', 'follow the sweep until every child has ended; exit status 1 if one failed')
    .addHelpText(
      'after',
      examples(
        'echelon presets submit paper-main-table --cluster fleet',
        "echelon presets submit paper-main-table --only 'HGPO K=4 1.5b alfworld' --watch",
      ),
    )
    .action(async (preset: string, options: SubmitOptions) => {
      const { name } = presetOf(preset);
      const client = await clientFor(options);
      const accepted = await submitted({ output, ...options }, (headers) =>
        client.post('/v1/presets/{name}/submit', { path: { name }, body: bodyOf(options), headers }),
      );
      if (options.watch) output.remark(`Submitted ${accepted.id}.`);
      for (const warning of accepted.warnings) output.remark(inert(`warning: ${warning}`));
      if (options.watch) return watchSweep({ client, id: accepted.id, output, json: options.json ?? false });
      output.line(options.json ? json(accepted) : accepted.id);
      if (!options.json) output.remark(`${accepted.count} children`);
    });
}

function bodyOf(options: SubmitOptions): SubmitPreset {
  const { project, cluster, home, checkpointLabel: label, only: runs } = options;
  return stated({ project, cluster, home, label, runs });
}

function presetOf(name: string): Preset {
  const all = allPresets();
  const found = all.find((preset) => preset.name === name);
  if (found) return found;
  const names = all.map((preset) => preset.name);
  const near = nearestName(name, names);
  const hint = near === undefined ? `The presets are ${names.join(', ')}.` : `Did you mean ${near}?`;
  throw new CliError(EXIT.usage, `There is no preset ${JSON.stringify(name)}. ${hint}`);
}

function overview(presets: readonly Preset[], width: number | undefined): string {
  const rows = presets.map(({ name, title, runs }) => [
    name,
    runs.length,
    runs.reduce((sum, { evaluations }) => sum + evaluations.length, 0),
    title,
  ]);
  return table(['PRESET', 'TRAININGS', 'EVALUATIONS', 'TITLE'], rows, width);
}

function describe({ title, notes, runs }: Preset, width: number | undefined): string[] {
  const shown = (figure: number | undefined): string => (figure === undefined ? '-' : figure.toFixed(2));
  const columns: [string, keyof PaperFigures][] = [
    ['IN-DOMAIN', 'inDomainSuccess'],
    ['OUT-OF-DOMAIN', 'outOfDomainSuccess'],
    ['WEBSHOP SCORE', 'webshopScore'],
    ['WEBSHOP SUCCESS', 'webshopSuccess'],
  ];
  const rows = runs.map(({ name, train, evaluations, figures }) => [
    name,
    'recipe' in train ? String(train.recipe) : '',
    evaluations.length,
    ...columns.map(([, key]) => shown(figures[key])),
  ]);
  const head = [
    { title: 'TRAINING' },
    { title: 'RECIPE', drop: 2 },
    { title: 'EVALUATIONS', drop: 1 },
    ...columns.map(([name]) => textColumn(name, [])),
  ];
  return [
    title,
    '',
    fittedTable(head, rows, width),
    '',
    ...notes,
    "The figures are the paper's, in per cent.",
  ];
}

/** `echelon presets`: sweeps that reproduce the paper's tables, with the paper's figures. */
export const commands = {
  presets: group(
    {
      name: 'presets',
      alias: 'preset',
      description: "Run the sweeps that reproduce the paper's tables. Without a command, list them.",
    },
    [list, submit],
  ),
};
