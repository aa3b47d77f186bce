import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import { valueInWords } from '../../plan/sweep-names.ts';
import type {
  Sweep,
  SweepAccepted,
  SweepComparison,
  SweepDetail,
  SweepPage,
  SweepPreview,
  SweepRerun,
} from '../../schemas/sweep.ts';
import { wholeNumber } from '../arguments.ts';
import { apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { NAMES_IT, sweepNamed } from '../names.ts';
import { coloredState, duration, inert, json, type Output } from '../output.ts';
import { shortened } from '../shortened.ts';
import { readSpecFile, requireKind } from '../spec-file.ts';
import { type Column, fittedTable, idColumn, widthFor, withWide } from '../table.ts';
import { findingsInWords, findingsOf, progress, unmade, watchSweep } from './sweep-watch.ts';

type Options = ConnectionOptions & { json?: boolean; output?: string };

/** `echelon sweep submit|ls|get|compare|cancel|rerun`. */
export function sweepCommand(output: Output): Command {
  const command = new Command('sweep')
    .summary('run one spec with many values, and compare what came of it')
    .description('run one spec with many values, and compare what came of it; alone, it lists the sweeps')
    .addHelpText(
      'after',
      '\nExamples:\n  echelon sweep submit deploy/examples/sweep-estimators.yaml\n  echelon watch swp-00cz8h3k7n2q4r5s6t7v\n  echelon sweep compare swp-00cz8h3k7n2q4r5s6t7v',
    )
    .addCommand(list(output), { isDefault: true });
  for (const part of [submit, get, compare, cancel, rerun]) command.addCommand(part(output));
  return command;
}

const pathOf = (id: string): string => `/v1/sweeps/${encodeURIComponent(id)}`;

function submit(output: Output): Command {
  return apiCommand('submit')
    .summary('submit a sweep from a YAML or JSON file')
    .description('submit a sweep from a YAML or JSON file: name, method (grid, list, random), spec, axes')
    .argument('<file>')
    .option('--key <key>', 'Idempotency-Key: the same key and file give the same sweep')
    .option('--dry-run', 'check every child and show how many there are; submit nothing')
    .option(
      '-w, --watch',
      'follow it until every child has ended; exit status 1 where one failed or a row is wrong',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  echelon sweep submit --dry-run deploy/examples/sweep-estimators.yaml\n  echelon sweep submit --watch deploy/examples/sweep-estimators.yaml',
    )
    .action(async (file: string, options: Options & { key?: string; dryRun?: boolean; watch?: boolean }) => {
      const [client, request] = [await clientFor(options), await readSpecFile(file)];
      requireKind(file, request, 'sweep');
      if (options.dryRun) {
        const preview = await client.post<SweepPreview>('/v1/sweeps/preview', request);
        return output.line(options.json ? json(preview) : describePreview(preview));
      }
      const headers = { 'idempotency-key': options.key ?? randomUUID() };
      const accepted = await client.post<SweepAccepted>('/v1/sweeps', request, headers);
      for (const warning of accepted.warnings) output.remark(inert(`warning: ${warning}`));
      if (options.watch) return watchSweep({ client, id: accepted.id, output, json: options.json ?? false });
      output.line(options.json ? json(accepted) : accepted.id);
      if (!options.json) output.remark(`${accepted.count} children`);
    });
}

function describePreview({ count: children, children: first, warnings }: SweepPreview): string {
  const lines = first.map(({ index, name }) => `  ${index}  ${inert(name)}`);
  if (children > first.length) lines.push(`  … and ${children - first.length} more`);
  lines.push(...warnings.map((warning) => inert(`warning: ${warning}`)));
  return [`${children} children, all of them valid; nothing was submitted.`, ...lines].join('\n');
}

function list(output: Output): Command {
  return withWide(apiCommand('ls'))
    .description('list sweeps, newest first')
    .addHelpText('after', '\nExample:\n  echelon sweep ls --project vision')
    .option('--project <project>', 'only those of this project')
    .option('-n, --limit <count>', 'at most so many', wholeNumber(1, 200), 20)
    .action(async (options: Options & { project?: string; limit: number }) => {
      const client = await clientFor(options);
      const page = await client.get<SweepPage>('/v1/sweeps', {
        project: options.project,
        limit: options.limit,
      });
      if (options.json) return output.line(json(page));
      if (page.items.length === 0) return output.line('No sweeps. `echelon sweep submit FILE` adds one.');
      const rows = page.items.map((sweep) => [
        sweep.id,
        inert(sweep.name),
        coloredState(sweep.state),
        sweep.count,
        progress(sweep),
        duration(Date.now() - sweep.createdAt),
      ]);
      const columns = [
        idColumn(page.items.map(({ id }) => id)),
        { title: 'NAME', least: 12 },
        { title: 'STATE' },
        { title: 'CHILDREN', drop: 1 },
        { title: 'OF THEM' },
        { title: 'AGE', drop: 2 },
      ];
      output.line(fittedTable(columns, rows, widthFor(output, options)));
      if (page.next) output.remark('There are more; --limit shows them.');
    });
}

function get(output: Output): Command {
  return withWide(apiCommand('get'))
    .description('show a sweep and its children')
    .argument('<id>', NAMES_IT)
    .option('-n, --limit <count>', 'at most so many children', wholeNumber(1, 200), 50)
    .option('--cursor <cursor>', 'go on where an earlier answer ended')
    .addHelpText('after', '\nExample:\n  echelon sweep get swp-00cz8h3k7n2q4r5s6t7v --limit 200')
    .action(async (name: string, options: Options & { limit: number; cursor?: string }) => {
      const client = await clientFor(options);
      const id = await sweepNamed(client, name);
      const sweep = await client.get<SweepDetail>(pathOf(id), {
        limit: options.limit,
        cursor: options.cursor,
      });
      if (options.json) return output.line(json(sweep));
      output.line(`${inert(sweep.name)}  ${coloredState(sweep.state)} (${inert(sweep.reason)})`);
      output.line(progress(sweep));
      output.line(findingsInWords(await findingsOf({ client, id, output, wait: false })));
      const heads = sweep.axes.map(({ pointer }) => inert(pointer));
      const rows = sweep.children.map(({ index, experiment, state, run, skipped, values, verification }) => [
        index,
        experiment,
        coloredState(state ?? (skipped === null ? unmade(sweep) : 'skipped')) +
          (run > 0 ? ` (run ${run + 1})` : ''),
        verification === null || verification.rowsVerified === 0 ? '-' : verification.wrong,
        ...sweep.axes.map(({ pointer }) => shown(values[pointer])),
      ]);
      const columns = [
        { title: '#' },
        { title: 'EXPERIMENT' },
        { title: 'STATE' },
        { title: 'WRONG' },
        ...heads.map((title) => ({ title, least: 8 })),
      ];
      output.line(fittedTable(columns, rows, widthFor(output, options)));
      if (sweep.next) output.remark(`There are more: --cursor ${sweep.next}`);
    });
}

/** A value of an axis in a cell. */
function shown(value: unknown): string {
  return shortened(inert(valueInWords(value)), 60);
}

function compare(output: Output): Command {
  return withWide(apiCommand('compare'))
    .description('one row for each combination of values, aggregated over seeds')
    .argument('<id>', NAMES_IT)
    .option('-m, --metric <name...>', 'metrics to show (val/success_rate)')
    .option('--over <axis...>', 'axes to aggregate over (those that end in seed)')
    .option('-n, --limit <count>', 'at most so many rows', wholeNumber(1, 200), 50)
    .addHelpText(
      'after',
      '\nExamples:\n  echelon sweep compare swp-00cz8h3k7n2q4r5s6t7v\n  echelon sweep compare swp-00cz8h3k7n2q4r5s6t7v --metric val/success_rate episode/length/mean',
    )
    .action(
      async (name: string, options: Options & { metric?: string[]; over?: string[]; limit: number }) => {
        const client = await clientFor(options);
        const id = await sweepNamed(client, name);
        const comparison = await client.get<SweepComparison>(`${pathOf(id)}/comparison`, {
          metrics: options.metric?.join(','),
          over: options.over?.join(','),
          limit: options.limit,
        });
        output.line(
          options.json ? json(comparison) : describeComparison(comparison, widthFor(output, options)),
        );
        if (options.json) return;
        if (comparison.next) output.remark('There are more; --limit shows them.');
        const none = notReported(comparison);
        if (none.length > 0)
          output.remark(
            inert(`No child reported ${none.join(', ')}; \`echelon metrics ID\` lists what one did.`),
          );
      },
    );
}

/** The metrics that no child has, though some have succeeded: probably written otherwise than the trainer does. */
function notReported({ items, metrics }: SweepComparison): string[] {
  if (items.every(({ succeeded }) => succeeded === 0)) return [];
  return metrics.filter((name) => items.every(({ metrics: found }) => found[name]!.n === 0));
}

function describeComparison({ items, metrics }: SweepComparison, width: number | undefined): string {
  const axes = Object.keys(items[0]?.values ?? {});
  const number = (value: number | null) => (value === null ? '-' : value.toPrecision(4));
  const compared = new Set(items.flatMap(({ reference }) => Object.keys(reference ?? {})));
  const coded = items.some(({ customCode }) => customCode);
  const rows = items.map(({ values, metrics: found, rows: checked, reference, ...row }) => [
    ...axes.map((pointer) => shown(values[pointer])),
    `${row.succeeded}/${row.children}`,
    ...metrics.flatMap((name) => {
      const { mean, std, n, interval } = found[name]!;
      const likely = interval === null ? '' : `, 95 %: ${number(interval.low)} to ${number(interval.high)}`;
      const spread = std === null ? '' : ` ± ${number(std)}`;
      const measured = n === 0 ? '-' : `${number(mean)}${spread} (n=${n}${likely})`;
      return compared.has(name) ? [measured, number(reference?.[name] ?? null)] : [measured];
    }),
    checked.exact,
    checked.rounding,
    checked.wrong,
    ...(coded ? [row.customCode ? 'yes' : ''] : []),
    duration(row.gpuSeconds * 1000),
    duration(row.cpuSeconds * 1000),
  ]);
  const column = (title: string, how: Omit<Column, 'title'> = {}): Column => ({
    title: inert(title),
    ...how,
  });
  const columns = [
    ...axes.map((pointer) => column(pointer, { least: 8 })),
    column('SUCCEEDED', { drop: 1 }),
    ...metrics.flatMap((name) => [
      column(name, { least: 16, cut: withoutInterval }),
      ...(compared.has(name) ? [column('PAPER')] : []),
    ]),
    column('EXACT', { drop: 4 }),
    column('ROUNDING', { drop: 3 }),
    column('WRONG'),
    ...(coded ? [column('CUSTOM CODE', { drop: 2 })] : []),
    column('GPU', { drop: 5 }),
    column('CPU', { drop: 6 }),
  ];
  return fittedTable(columns, rows, width);
}

/** A measured value without what stands in parentheses behind it. */
const withoutInterval = (text: string, width: number): string =>
  shortened(text.replace(/ \(n=.*$/, ''), width);

function cancel(output: Output): Command {
  return apiCommand('cancel')
    .description('cancel a sweep with all its children')
    .argument('<id>', NAMES_IT)
    .addHelpText('after', '\nExample:\n  echelon sweep cancel swp-00cz8h3k7n2q4r5s6t7v')
    .action(async (name: string, options: Options) => {
      const client = await clientFor(options);
      const id = await sweepNamed(client, name);
      const sweep = await client.post<Sweep>(`${pathOf(id)}/cancel`, undefined);
      output.line(options.json ? json(sweep) : `${sweep.id} ${sweep.state}: ${progress(sweep)}`);
    });
}

function rerun(output: Output): Command {
  return apiCommand('rerun')
    .description('run the failed children of a sweep again')
    .argument('<id>', NAMES_IT)
    .addHelpText('after', '\nExample:\n  echelon sweep rerun swp-00cz8h3k7n2q4r5s6t7v')
    .action(async (name: string, options: Options) => {
      const client = await clientFor(options);
      const id = await sweepNamed(client, name);
      const answer = await client.post<SweepRerun>(`${pathOf(id)}/rerun-failed`, undefined);
      if (options.json) return output.line(json(answer));
      if (answer.rerun === 0) return output.line('No child has failed; nothing runs again.');
      output.line(`${answer.rerun === 1 ? '1 child runs' : `${answer.rerun} children run`} again`);
    });
}
