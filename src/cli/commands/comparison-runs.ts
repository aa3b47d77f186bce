import { wholeNumber } from 'command-kit/arguments';
import { inert } from 'command-kit/inert';
import { plural } from 'command-kit/plural';
import { fittedTable, idColumn, table } from 'command-kit/table';
import type { ComparisonDetail, ComparisonFigures, ComparisonPlan } from 'echelon-client/calls';
import { MAX_PAGE } from '../client.ts';
import { IDEMPOTENCY_KEY } from '../connection.ts';
import { readSpec } from '../folder-files.ts';
import { NAME_FORMS } from '../names.ts';
import { row } from '../row.ts';
import { coloredState, duration } from '../states.ts';

const FILE = ['<file>', 'file with the plan; - is standard input'] as const;
const EXAMPLE = 'deploy/examples/comparison.yaml';

/** `echelon comparison plan`: what the comparison costs and shows, before it runs. */
export const plan = row({
  name: 'plan',
  description:
    'Check the plan of a comparison; nothing runs. Prints the seeds that its margin needs, the GPU hours, and the smallest detectable difference.',
  arguments: [FILE],
  examples: [`echelon comparison plan ${EXAMPLE}`],
  verb: 'post',
  path: '/v1/comparisons/preview',
  input: async ({ file }: { file: string }, _client, output) => ({
    body: (await readSpec(file, output)) as ComparisonPlan,
  }),
  print: (figures, _given, output) => {
    for (const warning of figures.warnings) output.remark(inert(`warning: ${warning}`));
    return figuresInWords(figures);
  },
});

/** `echelon comparison submit`: stores the plan and queues its runs. */
export const submit = row({
  name: 'submit',
  description:
    'Store the plan of a comparison and submit its runs as a sweep. Nothing changes the plan from then on. The id is printed.',
  arguments: [FILE],
  options: [IDEMPOTENCY_KEY],
  examples: [`echelon comparison submit ${EXAMPLE}`],
  verb: 'post',
  path: '/v1/comparisons',
  input: async ({ file }: { file: string }, _client, output) => ({
    body: (await readSpec(file, output)) as ComparisonPlan,
  }),
  print({ id, count, warnings }, _given, output) {
    for (const warning of warnings) output.remark(inert(`warning: ${warning}`));
    output.line(id);
    output.remark(plural(count, 'run'));
  },
});

function figuresInWords(figures: Omit<ComparisonFigures, 'warnings'>): string {
  const { runs, level, seedsNeeded, detectable, gpuHours } = figures;
  return [
    `${plural(runs, 'run')}, ${gpuHours === null ? 'unknown GPU hours: state hoursPerRun' : `${gpuHours} GPU hours`}`,
    `The margin needs ${seedsNeeded ?? 'more than 1,000'} paired seeds; the planned seeds show ${detectable.toFixed(1)} points and more.`,
    `Each interval has the level ${(100 * level).toFixed(1)} %.`,
  ].join('\n');
}

/** `echelon comparison ls`. */
export const ls = row({
  name: 'ls',
  description: 'List comparisons, newest first.',
  options: [
    ['--project <project>', 'only this project'],
    ['-n, --limit <count>', 'maximum number of comparisons', wholeNumber(1, 100_000), 20],
  ],
  examples: ['echelon comparison', 'echelon comparison ls --project vision'],
  verb: 'get',
  path: '/v1/comparisons',
  pages: MAX_PAGE,
  input: ({ project, limit }: { project?: string; limit: number }) => ({ query: { project, limit } }),
  print({ items }, { width, now }, output) {
    if (items.length === 0) return 'No comparisons. Submit one with `echelon comparison submit FILE`.';
    const rows = items.map(({ id, state, createdAt, plan: { name, methods, seeds } }) => [
      id,
      inert(name),
      coloredState(state),
      inert(methods.map((one) => one.name).join(', ')),
      seeds.length,
      duration(now - createdAt),
    ]);
    const columns = [
      idColumn(items.map(({ id }) => id)),
      { title: 'NAME', minWidth: 12 },
      { title: 'STATE' },
      { title: 'METHODS', minWidth: 12 },
      { title: 'SEEDS', drop: 1 },
      { title: 'AGE', drop: 2 },
    ];
    output.line(fittedTable(columns, rows, width));
  },
});

const COMPARISON = ['<id>', `comparison: ${NAME_FORMS}`] as const;

/** `echelon comparison get`. */
export const get = row({
  name: 'get',
  description: 'Show a comparison: its runs and, from the first planned look on, its result.',
  arguments: [COMPARISON],
  examples: ['echelon comparison get swp-00cz8h3k7n2q4r5s6t7v'],
  verb: 'get',
  path: '/v1/comparisons/{id}',
  print: (comparison, { width }) => comparisonText(comparison, width),
});

/** A comparison in words: its findings, the seeds, then a sentence for each method. */
export function comparisonText(comparison: ComparisonDetail, width?: number): string {
  const { plan, findings, refusals, look, runs, results, createdAt, startedAt } = comparison;
  const started = startedAt === null ? 'no run has started' : `first run started ${time(startedAt)}`;
  const rows = plan.seeds.map((seed) => [
    seed,
    ...plan.methods.map(({ name }) => {
      const run = runs.find((one) => one.seed === seed && one.method === name);
      if (run?.success == null) return run?.state ?? '-';
      return `${percent(run.success)}${run.isCounted ? ` (${run.state})` : ''}`;
    }),
  ]);
  return [
    `${inert(plan.name)}: planned ${time(createdAt)}, ${started}`,
    ...findings.map(inert),
    ...(refusals.length > 0
      ? ['There is no paired table:', ...refusals.map((text) => `  ${inert(text)}`)]
      : []),
    table(['SEED', ...plan.methods.map(({ name }) => inert(name))], rows, width),
    ...(results.length > 0
      ? results.flatMap((one) => resultLines(one, plan))
      : [`No result yet: ${look.complete} of ${plan.seeds.length} seeds are complete.`]),
  ].join('\n');
}

function resultLines(
  one: ComparisonDetail['results'][number],
  { baseline, margin, replicates }: ComparisonPlan,
): string[] {
  const [low, high] = one.interval as [number, number];
  const flips = one.signFlipP === null ? '' : `, sign flips p = ${one.signFlipP.toPrecision(2)}`;
  return [
    '',
    `${inert(one.sentence)} (against ${inert(baseline)})`,
    `difference ${signed(one.difference)} points, ${(100 * one.level).toFixed(1)} % interval ${signed(low)} to ${signed(high)}, margin ${margin}`,
    `${one.seeds} seeds × ${one.games} games × ${replicates} replicates, t test p = ${one.p.toPrecision(2)}${flips}`,
    `deviation between runs ${one.runDeviation.map(percent).join(' and ')}, standard error of one evaluation ${one.evaluationError.map(percent).join(' and ')}, smallest detectable difference ${percent(one.detectable)}`,
  ];
}

const time = (at: number) => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

/** A share as points of success. */
export const percent = (share: number): string => (100 * share).toFixed(1);
/** The same with its sign. */
export const signed = (share: number): string => (share < 0 ? '' : '+') + percent(share);
