import { wholeNumber } from 'command-kit/arguments';
import { examples } from 'command-kit/examples';
import { inert } from 'command-kit/inert';
import { json, type Output } from 'command-kit/output';
import { plural } from 'command-kit/plural';
import { fittedTable, idColumn } from 'command-kit/table';
import { type Command, InvalidArgumentError } from 'commander';
import type { SweepPreview, SweepRequest } from 'echelon-client/calls';
import { MAX_PAGE, readPages } from '../client.ts';
import { type ApiOptions, apiCommand, clientFor, withIdempotencyKey } from '../connection.ts';
import { readSpec } from '../folder-files.ts';
import { group } from '../group.ts';
import { sweepNamed } from '../names.ts';
import { row, SWEEP } from '../row.ts';
import { requireKind } from '../spec-file.ts';
import { coloredState, coloredStatus, duration } from '../states.ts';
import { submitted } from '../submission.ts';
import { cell, compare } from './sweep-results.ts';
import { findingsInWords, findingsOf, notCreated, progress, watchSweep } from './sweep-watch.ts';

interface ListOptions {
  project?: string;
  limit: number;
  sort?: string;
}

const sweepOrder = (text: string): string => {
  if (/^-?(created|best|progress|failed)$/.test(text)) return text;
  throw new InvalidArgumentError('It must be created, best, progress or failed; - before it reverses.');
};

/** As the API names the order: there `-` puts the newest and the best first. */
const apiOrder = (sort: string) => (sort.startsWith('-') ? sort.slice(1) : `-${sort}`) as never;

const ls = row({
  name: 'ls',
  description: 'List sweeps, newest first.',
  options: [
    ['--project <project>', 'only this project'],
    ['--sort <order>', 'created, best, progress or failed; - before it reverses', sweepOrder],
    ['-n, --limit <count>', 'maximum number of sweeps', wholeNumber(1, 100_000), 20],
  ],
  examples: ['echelon sweeps', 'echelon sweeps ls --project vision --sort best'],
  verb: 'get',
  path: '/v1/sweeps',
  pages: MAX_PAGE,
  input: ({ project, limit, sort }: ListOptions) => ({
    query: { project, limit, best: true, ...(sort && { sort: apiOrder(sort) }) },
  }),
  json: ({ items, next }) => ({ items, next }),
  print({ items, next }, { width, now }, output) {
    if (items.length === 0) return 'No sweeps. Submit one with `echelon sweeps submit FILE`.';
    const rows = items.map((sweep) => [
      sweep.id,
      inert(sweep.name),
      coloredState(sweep.state),
      sweep.count,
      progress(sweep),
      sweep.best ? inert(`${sweep.best.mean.toPrecision(4)} ${sweep.metric.name}`) : '-',
      duration(now - sweep.createdAt),
    ]);
    const columns = [
      idColumn(items.map(({ id }) => id)),
      { title: 'NAME', minWidth: 12 },
      { title: 'STATE' },
      { title: 'CHILDREN', drop: 1 },
      { title: 'PROGRESS' },
      { title: 'BEST', minWidth: 6 },
      { title: 'AGE', drop: 2 },
    ];
    output.line(fittedTable(columns, rows, width));
    if (next) output.remark('There are more sweeps; --limit shows them.');
  },
});

interface SubmitOptions extends ApiOptions {
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
      const [client, request] = [await clientFor(options), await readSpec(file, output)];
      requireKind(file, request, 'sweep');
      // The API validates it.
      const body = request as SweepRequest;
      if (options.dryRun) {
        const preview = await client.post('/v1/sweeps/preview', { body });
        return output.line(options.json ? json(preview) : describePreview(preview));
      }
      const accepted = await submitted({ output, ...options }, (headers) =>
        client.post('/v1/sweeps', { body, headers }),
      );
      for (const warning of accepted.warnings) output.remark(inert(`warning: ${warning}`));
      if (options.watch) output.remark(`Submitted ${accepted.id}.`);
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

type GetOptions = ApiOptions & { limit: number };

function get(output: Output): Command {
  return apiCommand('get')
    .description('Show a sweep and its children.')
    .argument(...SWEEP)
    .option('-n, --limit <count>', 'maximum number of children', wholeNumber(1, 100_000), 50)
    .addHelpText('after', examples('echelon sweeps get swp-00cz8h3k7n2q4r5s6t7v --limit 200'))
    .action(async (name: string, options: GetOptions) => {
      const client = await clientFor(options);
      const id = await sweepNamed(client, name);
      const read = async (query: { cursor: string | undefined; limit: number }) => {
        const page = await client.get('/v1/sweeps/{id}', { path: { id }, query });
        return { ...page, items: page.children };
      };
      const { items: children, ...page } = await readPages(read, { limit: options.limit, maxPage: 200 });
      const sweep = { ...page, children };
      if (options.json) return output.line(json(sweep));
      output.line(`${inert(sweep.name)}  ${coloredState(sweep.state)} (${inert(sweep.reason)})`);
      output.line(progress(sweep));
      output.line(inert(`Metric: ${sweep.metric.name} (${sweep.metric.goal})`));
      output.line(findingsInWords(await findingsOf({ client, id, output, wait: false })));
      const heads = sweep.axes.map(({ pointer }) => inert(pointer));
      const rows = sweep.children.map(({ index, experiment, state, run, skipped, values, verification }) => [
        index,
        experiment,
        (state === null
          ? coloredState(skipped === null ? notCreated(sweep) : 'skipped')
          : coloredStatus({ state, verification })) + (run > 0 ? ` (run ${run + 1})` : ''),
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
      output.line(fittedTable(columns, rows, output.columns));
      if (sweep.next) output.remark('There are more children; --limit shows them.');
    });
}

const description =
  'Run one spec with many values and compare the results. Without a command, list the sweeps.';

/** `echelon sweeps`. */
export const commands = {
  sweeps: group({ name: 'sweeps', alias: 'sweep', description }, [ls, submit, get, compare]),
};
