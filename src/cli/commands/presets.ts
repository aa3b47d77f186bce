import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import { nearestName } from '../../core/nearest.ts';
import { findPreset, type PaperFigures, PRESETS, type Preset } from '../../engines/verl-agent/presets.ts';
import type { SubmitPreset } from '../../schemas/preset.ts';
import type { SweepAccepted } from '../../schemas/sweep.ts';
import { wholeNumber } from '../arguments.ts';
import { type ConnectionOptions, clientFor, withConnection } from '../connection.ts';
import { CliError, EXIT } from '../exit.ts';
import { inert, json, type Output, table } from '../output.ts';
import { watchSweep } from './sweep-watch.ts';

type SubmitOptions = ConnectionOptions &
  Omit<SubmitPreset, 'label'> & {
    checkpointLabel?: string;
    only?: string[];
    as?: string;
    key?: string;
    watch?: boolean;
    json?: boolean;
  };

/** `echelon presets`: sweeps that reproduce the paper's tables, with its figures beside. */
export function presetsCommand(output: Output): Command {
  const command = new Command('presets')
    .summary('list the sweeps that reproduce the paper, or run one')
    .description("list the sweeps that reproduce the paper's tables, or print one with the paper's figures")
    .argument('[name]', 'print this one')
    .option('--json', 'print JSON, with every spec')
    .addHelpText(
      'after',
      '\nExamples:\n  echelon presets\n  echelon presets paper-main-table\n  echelon presets submit paper-history-ablation --cluster fleet',
    )
    .action((name: string | undefined, options: { json?: boolean }) => {
      const chosen = name === undefined ? PRESETS : [presetOf(name)];
      if (options.json) output.line(json(name === undefined ? chosen : chosen[0]));
      else if (name === undefined) output.line(overview(chosen));
      else for (const line of describe(chosen[0]!)) output.line(line);
    });
  return command.addCommand(submit(output));
}

function submit(output: Output): Command {
  return withConnection(new Command('submit'))
    .summary('run a preset on a cluster as one sweep')
    .description('run a preset on a cluster as one sweep: trainings, and behind each its evaluations')
    .argument('<name>')
    .option('--as <name>', "name of the sweep (the preset's)")
    .option('--project <project>', 'whose it is')
    .option('--cluster <name>', 'run it there')
    .option('--priority <number>', 'higher goes first', wholeNumber(-100, 100))
    .option('--home <directory>', "the verl-agent checkout on the cluster (the cluster's own)")
    .option('--checkpoint-label <label>', 'keep the checkpoints apart from those of another submission')
    .option('--only <training...>', 'run these trainings alone')
    .option('--key <key>', 'Idempotency-Key: the same key and options give the same sweep')
    .option('-w, --watch', 'follow it until every child has ended; exit status 1 where one did not succeed')
    .option('--json', 'print JSON, for scripts')
    .addHelpText(
      'after',
      "\nExamples:\n  echelon presets submit paper-main-table --cluster fleet\n  echelon presets submit paper-main-table --only 'HGPO K=4 1.5b alfworld' --watch\nThen `echelon sweep compare ID` shows what was measured beside the paper's figures.",
    )
    .action(async (name: string, _own: SubmitOptions, command: Command) => {
      const options = command.optsWithGlobals() as SubmitOptions;
      const client = await clientFor(options);
      const path = `/v1/presets/${encodeURIComponent(presetOf(name).name)}/submit`;
      const headers = { 'idempotency-key': options.key ?? randomUUID() };
      const accepted = await client.post<SweepAccepted>(path, bodyOf(options), headers);
      for (const warning of accepted.warnings) output.remark(inert(`warning: ${warning}`));
      if (options.watch) return watchSweep({ client, id: accepted.id, output, json: options.json ?? false });
      output.line(options.json ? json(accepted) : accepted.id);
      if (!options.json) output.remark(`${accepted.count} children`);
    });
}

function bodyOf({
  as: name,
  project,
  cluster,
  priority,
  home,
  checkpointLabel: label,
  only,
}: SubmitOptions): SubmitPreset {
  return {
    ...(name !== undefined && { name }),
    ...(project !== undefined && { project }),
    ...(cluster !== undefined && { cluster }),
    ...(priority !== undefined && { priority }),
    ...(home !== undefined && { home }),
    ...(label !== undefined && { label }),
    ...(only !== undefined && { runs: only }),
  };
}

function presetOf(name: string): Preset {
  const names = PRESETS.map((preset) => preset.name);
  const found = findPreset(name);
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
