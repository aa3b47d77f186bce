import { examples } from 'command-kit/examples';
import { CliError, EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import { json, type Output } from 'command-kit/output';
import { table } from 'command-kit/table';
import { Command, InvalidArgumentError } from 'commander';
import { parse } from 'csv-parse/sync';
import { readBounded } from 'echelon-verify/cli';
import {
  type GameResult,
  type Judgement,
  judgeResults,
  UnpairedError,
} from '../../plan/comparison/judge-results.ts';
import { detectableWith, seedsFor } from '../../plan/comparison/paired-difference.ts';
import { sentenceOf } from '../../plan/comparison/sentence.ts';
import { group } from '../group.ts';
import { exportCommand } from './comparison-export.ts';
import { get, ls, percent, plan, signed, submit } from './comparison-runs.ts';

const MARGIN = [
  '--margin <points>',
  'smallest difference of interest, in points of success',
  points,
  3,
] as const;

/** `echelon comparison seeds`: what a comparison costs, before it starts. */
function seedsCommand(output: Output): Command {
  return new Command('seeds')
    .description(
      'Print how many paired seeds show a difference, and what fewer seeds show. The power is 80 % at the level 5 %.',
    )
    .option(...MARGIN)
    .requiredOption(
      '--deviation <points>',
      "deviation of the seeds' differences, in points of success",
      points,
    )
    .option('--json', 'print JSON')
    .addHelpText('after', examples('echelon comparison seeds --margin 3 --deviation 4'))
    .action(({ margin, deviation, json: isJson }: { margin: number; deviation: number; json?: boolean }) => {
      const seeds = seedsFor(margin, deviation);
      const detectable = [3, 5, 10, 20].map((some) => ({
        seeds: some,
        points: detectableWith(some, deviation),
      }));
      if (isJson) return output.line(json({ margin, deviation, seeds, detectable }));
      const needed = seeds === null ? 'more than 1,000 seeds' : `${seeds} seeds`;
      output.line(
        `A difference of ${margin} points needs ${needed} of each method, at a deviation of ${deviation} points.`,
      );
      output.line(
        table(
          ['SEEDS', 'SMALLEST DETECTABLE DIFFERENCE'],
          detectable.map((one) => [one.seeds, `${one.points.toFixed(1)} points`]),
        ),
      );
    });
}

/** `echelon comparison judge`: the result of a comparison from a table of games. */
function judgeCommand(output: Output): Command {
  return new Command('judge')
    .description(
      'Judge from a file whether a method is better than another. The result is the paired difference of each training seed over the same games, with a 95 % interval clustered by seed. The file is CSV with the columns method, seed, game, success (0 to 1) and, if games are repeated, replicate.',
    )
    .argument('<file>', 'CSV with one line for each game of each run')
    .requiredOption('--candidate <method>', 'method that may be better')
    .requiredOption('--baseline <method>', 'method to compare with')
    .option(...MARGIN)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Fix the margin, the seeds, the games and the step of the checkpoints before the
first run: the interval holds for a plan, not for the best of several looks.
${examples('echelon comparison judge games.csv --candidate hgpo --baseline gigpo --margin 3')}`,
    )
    .action(async (file: string, options: Names & { margin: number; json?: boolean }) => {
      const judgement = judgedFile(await readBounded(file), file, options);
      const { candidate, baseline, margin } = options;
      output.line(
        options.json
          ? json({ methods: { candidate, baseline }, margin, ...judgement })
          : judgementText(judgement, options, margin),
      );
    });
}

interface Names {
  candidate: string;
  baseline: string;
}

function judgedFile(bytes: Uint8Array, file: string, options: Names & { margin: number }): Judgement {
  const results = readResults(bytes, file);
  const methods = [...new Set(results.map(({ method }) => method))];
  const unknown = [options.candidate, options.baseline].find((name) => !methods.includes(name));
  if (unknown !== undefined)
    throw new CliError(EXIT.usage, `${file} has no method ${unknown}. It has ${methods.join(', ')}.`);
  if (options.candidate === options.baseline)
    throw new CliError(
      EXIT.usage,
      `--candidate and --baseline are both ${options.baseline}. Name two methods.`,
    );
  try {
    return judgeResults(results, options, options.margin / 100);
  } catch (error) {
    if (error instanceof UnpairedError) throw new CliError(EXIT.usage, `${file}: ${error.message}`);
    throw error;
  }
}

const COLUMNS = ['method', 'seed', 'game', 'success'];

function readResults(bytes: Uint8Array, file: string): GameResult[] {
  const rows = parsed(bytes, file);
  const lacking = COLUMNS.find((column) => !Object.hasOwn(rows[0] ?? {}, column));
  if (lacking !== undefined)
    throw new CliError(
      EXIT.usage,
      `${file} has no column ${lacking}, or no line below the names of its columns. It needs ${COLUMNS.join(', ')}.`,
    );
  return rows.map((row, at) => {
    const success = row.success === '' ? Number.NaN : Number(row.success);
    if (!(success >= 0 && success <= 1))
      throw new CliError(
        EXIT.usage,
        `${file}: success of result ${at + 1} is "${row.success}", not a number from 0 to 1.`,
      );
    return {
      method: row.method!,
      seed: row.seed!,
      game: row.game!,
      replicate: row.replicate ?? '1',
      success,
    };
  });
}

function parsed(bytes: Uint8Array, file: string): Record<string, string>[] {
  try {
    return parse(Buffer.from(bytes), { columns: true, bom: true, skip_empty_lines: true, trim: true });
  } catch (error) {
    throw new CliError(EXIT.usage, `${file} is not CSV: ${(error as Error).message}`);
  }
}

/** The judgement in words; all differences in points of success. */
function judgementText(judgement: Judgement, { candidate, baseline }: Names, margin: number): string {
  const { seeds, games, replicates, difference } = judgement;
  const rows = seeds.map((seed, at) => [
    inert(seed),
    percent(judgement.candidate.success[at]!),
    percent(judgement.baseline.success[at]!),
    signed(judgement.differences[at]!),
  ]);
  const means = [
    'mean',
    percent(judgement.candidate.mean),
    percent(judgement.baseline.mean),
    signed(difference.mean),
  ];
  const [low, high] = difference.interval;
  const flips =
    difference.signFlipP === null ? '' : `; sign flips p = ${difference.signFlipP.toPrecision(2)}`;
  return [
    `${seeds.length} seeds × ${games} games × ${replicates} replicates`,
    table(['SEED', inert(candidate), inert(baseline), 'DIFFERENCE'], [...rows, means]),
    '',
    sentenceOf(inert(candidate), difference),
    `difference ${signed(difference.mean)} points, 95 % interval ${signed(low)} to ${signed(high)}, margin ${margin}`,
    `t test p = ${difference.p.toPrecision(2)} with ${seeds.length - 1} degrees of freedom${flips}`,
    `deviation between runs ${percent(judgement.candidate.runDeviation)} and ${percent(judgement.baseline.runDeviation)}, standard error of one evaluation ${percent(judgement.candidate.evaluationError)} and ${percent(judgement.baseline.evaluationError)}`,
    `the smallest difference that ${seeds.length} seeds show is ${percent(difference.detectable)} points`,
  ].join('\n');
}

function points(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value > 0 && value <= 100))
    throw new InvalidArgumentError('It must be a number of points above 0, at most 100.');
  return value;
}

const comparison = group(
  {
    name: 'comparison',
    alias: 'comparisons',
    description:
      'Compare methods by a plan that is fixed before the runs. Without a command, list the comparisons. `seeds` and `judge` need no server.',
  },
  [ls, plan, submit, get, exportCommand, seedsCommand, judgeCommand],
);

/** The commands of this module by their names. */
export const commands = { comparison };
