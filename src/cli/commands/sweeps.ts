import type { Command } from 'commander';
import type { SweepComparison, SweepPreview, SweepRequest } from 'echelon-client/calls';
import { wholeNumber } from 'echelon-verify/cli/arguments';
import { examples } from 'echelon-verify/cli/examples';
import { json, type Output } from 'echelon-verify/cli/output';
import { shortened } from 'echelon-verify/cli/shortened';
import { type Column, fittedTable, idColumn, widthFor, withWide } from 'echelon-verify/cli/table';
import { inert } from 'echelon-verify/text/inert';
import { plural } from 'echelon-verify/text/plural';
import { valueInWords } from '../../plan/sweep-names.ts';
import { apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { readSpec } from '../folder-files.ts';
import { group } from '../group.ts';
import { NAME_FORMS, sweepNamed } from '../names.ts';
import { readPages } from '../pages.ts';
import { requireKind } from '../spec-file.ts';
import { coloredState, duration } from '../states.ts';
import { idempotencyHeader, withIdempotencyKey } from './submit.ts';
import { sweepSeriesCommand } from './sweep-results.ts';
import { findingsInWords, findingsOf, notCreated, progress, watchSweep } from './sweep-watch.ts';

type Options = ConnectionOptions & { json?: boolean; output?: string };

/** `echelon sweeps`: submit, list, get, compare, series, cancel and rerun. */
export function sweepsCommand(output: Output): Command {
  return group(
    {
      name: 'sweeps',
      alias: 'sweep',
      description:
        'Run one spec with many values and compare the results. Without a command, list the sweeps.',
    },
    [
      list(output),
      submit(output),
      get(output),
      compare(output),
      sweepSeriesCommand(output),
      cancel(output),
      rerun(output),
    ],
  );
}

const ID = `sweep: ${NAME_FORMS}`;

interface SubmitOptions extends Options {
  idempotencyKey?: string;
  dryRun?: boolean;
  watch?: boolean;
}

function submit(output: Output): Command {
  return withIdempotencyKey(apiCommand('submit'))
    .description('Submit a sweep from a YAML or JSON file. The id of the sweep is printed.')
    .argument('<file>', 'file with name, method (grid, list, random), spec and axes; - is standard input')
    .option('--dry-run', 'check every child and print their number; submit nothing')
    .option('-w, --watch', 'follow the sweep until every child has ended; exit status 1 if one failed')
    .addHelpText(
      'after',
      examples(
        'echelon sweeps submit --dry-run deploy/examples/sweep-estimators.yaml',
        'echelon sweeps submit --watch deploy/examples/sweep-estimators.yaml',
      ),
    )
    .action(async (file: string, options: SubmitOptions) => {
      const [client, request] = [await clientFor(options), await readSpec(file)];
      requireKind(file, request, 'sweep');
      // The API validates it.
      const body = request as SweepRequest;
      if (options.dryRun) {
        const preview = await client.post('/v1/sweeps/preview', { body });
        return output.line(options.json ? json(preview) : describePreview(preview));
      }
      const accepted = await client.post('/v1/sweeps', { body, headers: idempotencyHeader(options) });
      for (const warning of accepted.warnings) output.remark(inert(`warning: ${warning}`));
      if (options.watch) return watchSweep({ client, id: accepted.id, output, json: options.json ?? false });
      output.line(options.json ? json(accepted) : accepted.id);
      if (!options.json) output.remark(plural(accepted.count, 'child', 'children'));
    });
}

function describePreview({ count, children: first, warnings }: SweepPreview): string {
  const lines = first.map(({ index, name }) => `  ${index}  ${inert(name)}`);
  if (count > first.length) lines.push(`  … and ${count - first.length} more`);
  lines.push(...warnings.map((warning) => inert(`warning: ${warning}`)));
  return [`${plural(count, 'valid child', 'valid children')}; nothing was submitted.`, ...lines].join('\n');
}

function list(output: Output): Command {
  return withWide(apiCommand('ls'))
    .description('List sweeps, newest first.')
    .option('--project <project>', 'only this project')
    .option('-n, --limit <count>', 'maximum number of sweeps', wholeNumber(1, 100_000), 20)
    .addHelpText('after', examples('echelon sweeps', 'echelon sweeps ls --project vision'))
    .action(async ({ project, limit, ...options }: Options & { project?: string; limit: number }) => {
      const client = await clientFor(options);
      const page = await readPages((place) => client.get('/v1/sweeps', { query: { project, ...place } }), {
        limit,
      });
      if (options.json) return output.line(json(page));
      if (page.items.length === 0)
        return output.line('No sweeps. Submit one with `echelon sweeps submit FILE`.');
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
        { title: 'NAME', minWidth: 12 },
        { title: 'STATE' },
        { title: 'CHILDREN', drop: 1 },
        { title: 'PROGRESS' },
        { title: 'AGE', drop: 2 },
      ];
      output.line(fittedTable(columns, rows, widthFor(output, options)));
      if (page.next) output.remark('There are more sweeps; --limit shows them.');
    });
}

function get(output: Output): Command {
  return withWide(apiCommand('get'))
    .description('Show a sweep and its children.')
    .argument('<id>', ID)
    .option('-n, --limit <count>', 'maximum number of children', wholeNumber(1, 200), 50)
    .option('--cursor <cursor>', 'show the page with this cursor')
    .addHelpText('after', examples('echelon sweeps get swp-00cz8h3k7n2q4r5s6t7v --limit 200'))
    .action(async (name: string, options: Options & { limit: number; cursor?: string }) => {
      const client = await clientFor(options);
      const id = await sweepNamed(client, name);
      const { limit, cursor } = options;
      const sweep = await client.get('/v1/sweeps/{id}', { path: { id }, query: { limit, cursor } });
      if (options.json) return output.line(json(sweep));
      output.line(`${inert(sweep.name)}  ${coloredState(sweep.state)} (${inert(sweep.reason)})`);
      output.line(progress(sweep));
      output.line(findingsInWords(await findingsOf({ client, id, output, wait: false })));
      const heads = sweep.axes.map(({ pointer }) => inert(pointer));
      const rows = sweep.children.map(({ index, experiment, state, run, skipped, values, verification }) => [
        index,
        experiment,
        coloredState(state ?? (skipped === null ? notCreated(sweep) : 'skipped')) +
          (run > 0 ? ` (run ${run + 1})` : ''),
        verification === null || verification.rowsVerified === 0 ? '-' : verification.wrong,
        ...sweep.axes.map(({ pointer }) => cell(values[pointer])),
      ]);
      const columns = [
        { title: '#' },
        { title: 'EXPERIMENT' },
        { title: 'STATE' },
        { title: 'WRONG' },
        ...heads.map((title) => ({ title, minWidth: 8 })),
      ];
      output.line(fittedTable(columns, rows, widthFor(output, options)));
      if (sweep.next) output.remark(`There are more children: --cursor ${sweep.next}`);
    });
}

/** A value of an axis as a cell of a table. */
function cell(value: unknown): string {
  return shortened(inert(valueInWords(value)), 60);
}

interface CompareOptions extends Options {
  metric?: string[];
  over?: string[];
  limit: number;
}

function compare(output: Output): Command {
  return withWide(apiCommand('compare'))
    .description('Compare the children of a sweep: one row per combination of values, aggregated over seeds.')
    .argument('<id>', ID)
    .option('-m, --metric <name...>', 'metrics to show (default: val/success_rate)')
    .option('--over <axis...>', 'axes to aggregate over (default: those that end in seed)')
    .option('-n, --limit <count>', 'maximum number of rows', wholeNumber(1, 200), 50)
    .addHelpText(
      'after',
      examples(
        'echelon sweeps compare swp-00cz8h3k7n2q4r5s6t7v',
        'echelon sweeps compare swp-00cz8h3k7n2q4r5s6t7v --metric val/success_rate episode/length/mean',
      ),
    )
    .action(async (name: string, options: CompareOptions) => {
      const client = await clientFor(options);
      const path = { id: await sweepNamed(client, name) };
      const { metric: metrics, over, limit } = options;
      const comparison = await client.get('/v1/sweeps/{id}/comparison', {
        path,
        query: { metrics, over, limit },
      });
      output.line(
        options.json ? json(comparison) : describeComparison(comparison, widthFor(output, options)),
      );
      if (options.json) return;
      if (comparison.next) output.remark('There are more rows; --limit shows them.');
      const missing = missingMetrics(comparison);
      if (missing.length > 0)
        output.remark(
          inert(
            `No child reported ${missing.join(', ')}. List the metrics of a child with \`echelon metrics ID\`.`,
          ),
        );
    });
}

/** The metrics that no child reported although children succeeded. Probably the trainer spells them differently. */
function missingMetrics({ items, metrics }: SweepComparison): string[] {
  if (items.every(({ succeeded }) => succeeded === 0)) return [];
  return metrics.filter((name) => items.every(({ metrics: found }) => found[name]!.n === 0));
}

function describeComparison({ items, metrics }: SweepComparison, width: number | undefined): string {
  const axes = Object.keys(items[0]?.values ?? {});
  const number = (value: number | null) => (value === null ? '-' : value.toPrecision(4));
  const compared = new Set(items.flatMap(({ reference }) => Object.keys(reference ?? {})));
  const coded = items.some(({ customCode }) => customCode);
  const rows = items.map(({ values, metrics: found, rows: checked, reference, ...row }) => [
    ...axes.map((pointer) => cell(values[pointer])),
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
    ...axes.map((pointer) => column(pointer, { minWidth: 8 })),
    column('SUCCEEDED', { drop: 1 }),
    ...metrics.flatMap((name) => [
      column(name, { minWidth: 16, cut: withoutInterval }),
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

/** A measured value without the interval in parentheses after it. */
const withoutInterval = (text: string, width: number): string =>
  shortened(text.replace(/ \(n=.*$/, ''), width);

function cancel(output: Output): Command {
  return apiCommand('cancel')
    .description('Cancel a sweep with all its children.')
    .argument('<id>', ID)
    .addHelpText('after', examples('echelon sweeps cancel swp-00cz8h3k7n2q4r5s6t7v'))
    .action(async (name: string, options: Options) => {
      const client = await clientFor(options);
      const path = { id: await sweepNamed(client, name) };
      const sweep = await client.post('/v1/sweeps/{id}/cancel', { path });
      output.line(options.json ? json(sweep) : `${sweep.id} ${sweep.state}: ${progress(sweep)}`);
    });
}

function rerun(output: Output): Command {
  return apiCommand('rerun')
    .description('Run the failed children of a sweep again.')
    .argument('<id>', ID)
    .addHelpText('after', examples('echelon sweeps rerun swp-00cz8h3k7n2q4r5s6t7v'))
    .action(async (name: string, options: Options) => {
      const client = await clientFor(options);
      const path = { id: await sweepNamed(client, name) };
      const answer = await client.post('/v1/sweeps/{id}/rerun-failed', { path });
      if (options.json) return output.line(json(answer));
      if (answer.rerun === 0) return output.line('No child has failed; nothing runs again.');
      output.line(`${answer.rerun === 1 ? '1 child runs' : `${answer.rerun} children run`} again.`);
    });
}
