import { partsOf, wholeNumber } from 'command-kit/arguments';
import { examples } from 'command-kit/examples';
import { EXIT } from 'command-kit/exit';
import { errorLine } from 'command-kit/output';
import { wrapped } from 'command-kit/width';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { ParameterValue } from '../kernel/estimators/parameters.ts';
import type { EstimatorName } from '../kernel/estimators/registry.ts';
import {
  estimatorNames,
  estimatorOf,
  isEstimatorName,
  parameterFromText,
} from '../kernel/estimators/registry.ts';
import type { TextStreams } from './batch-files.ts';
import { compareFile } from './compare-file.ts';
import { type DumpFlags, statedBy, withDumpOptions } from './dump-options.ts';
import { estimateFile } from './estimate-file.ts';
import { explainFile } from './explain-file.ts';
import { identifyCommand } from './identify-command.ts';
import { signalFile } from './signal-file.ts';
import { verifyCommand } from './verify-command.ts';

/** The commands on recorded batches, which need no server: verify, explain, estimate, compare, signal, identify. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: it lists the commands, their options and their help
export function fileCommands(streams: TextStreams): Command[] {
  const ends = async (exitCode: Promise<number>): Promise<void> => {
    process.exitCode = await exitCode;
  };
  const io = (options: { json?: boolean | undefined }): TextStreams => streamsFor(streams, options);
  const verify = verifyCommand(io, parameterOf);

  const explain = withDumpOptions(
    file('explain', 'Explain how the advantage of one row is computed.')
      .argument('<path>', 'file with recorded batches, or file or folder with dumps of another trainer')
      .option(
        '--batch <name>',
        'name of the batch, or of the step of a dump; needed only if there are several',
      )
      .option('--row <number>', 'the row, from 0 (default: the first wrong row)', wholeNumber(0, 1e9))
      .option(
        '--position <number>',
        'position of a token in the row of an optimizer step, from 0 (default: the first wrong one)',
        wholeNumber(0, 1e9),
      ),
    parameterOf,
  )
    .addHelpText(
      'after',
      `
The explanation lists the row's clusters level by level with members, mean and deviation, dropped levels with reasons, \
the weights, the aggregate, and every value that float32 arithmetic can give. For a token of an optimizer step, it lists \
the stages from the log-prob to the gradient coefficient, the stage that breaks first, and likely causes.
${examples('echelon explain dump.json.gz', 'echelon explain dump.json.gz --batch step-12 --row 3', "echelon explain outputs/completions --batch 'step 3' --row 5")}`,
    )
    .action(
      (
        path: string,
        options: DumpFlags & { batch?: string; row?: number; position?: number; json?: boolean },
      ) => ends(explainFile(path, statedBy(options), io(options))),
    );

  const estimate = file('estimate', 'Estimate the advantages of recorded batches with any estimator.')
    .argument('<file>', FILE)
    .addOption(new Option('--estimator <name>', "estimator (default: the batch's)").choices(estimatorNames()))
    .option('--param <name=value>', 'parameter of the estimator; repeatable', parameterOf, {})
    .option('--batch <name>', 'only this batch')
    .addHelpText(
      'after',
      `
Parameters:
${columns(allParameters())}
The output is the distribution of the advantages. --json prints every advantage:
{"batches": [{"name", "estimator", "fingerprint", "advantage"}]}.
${examples(
  'echelon estimate dump.json.gz --estimator hgpo --param historyLength=4 --json',
  'echelon estimate dump.json.gz --estimator grpo --param epsilon=1e-4 --param normalizeByStd=false',
)}`,
    )
    .action((path: string, { estimator, batch, json, param: params }: EstimateOptions) =>
      ends(estimateFile(path, { estimator, batch, json, params }, io({ json }))),
    );

  const compare = file('compare', 'Compare several estimators on recorded batches.')
    .argument('<file>', FILE)
    .requiredOption('--estimators <names>', 'estimators, separated by commas', namesOf)
    .option('--batch <name>', 'only this batch')
    .addHelpText(
      'after',
      `
Each estimator is compared with the batch's own, row by row in float64: mean and largest absolute difference,
correlation, rows with another sign, and rows that are 0 for only one of the two.
${examples('echelon compare dump.json.gz --estimators hgpo,gigpo,grpo')}`,
    )
    .action((path: string, options: { estimators: EstimatorName[]; batch?: string; json?: boolean }) =>
      ends(compareFile(path, options, io(options))),
    );

  const signal = file('signal', 'Describe what recorded batches offer to learn from.')
    .argument('<file>', FILE)
    .option('--batch <name>', 'only this batch')
    .addHelpText(
      'after',
      `
How much of the spread of the step returns each way to compare rows explains, adjusted for its number of clusters and beside \
what shuffled rows give; and the rows without signal. It describes the signal and does not predict success.
${examples('echelon signal dump.json.gz')}`,
    )
    .action((path: string, options: { batch?: string; json?: boolean }) =>
      ends(signalFile(path, options, io(options))),
    );

  return [verify, explain, estimate, compare, signal, identifyCommand(io)];
}

interface EstimateOptions {
  estimator?: EstimatorName;
  param?: Readonly<Record<string, ParameterValue>>;
  batch?: string;
  json?: boolean;
}

/** The streams of a command, with or without `--json`. */
export function streamsFor(streams: TextStreams, { json }: { json?: boolean | undefined }): TextStreams {
  return json ? withJsonErrors(streams) : fittedTo(streams);
}

/** A terminal gets every line broken between words. */
function fittedTo({ stdout, stderr }: TextStreams): TextStreams {
  const { columns } = stdout;
  return { stdout: { columns, write: (text) => stdout.write(wrapped(text, columns)) }, stderr };
}

/** Each message on standard error becomes one line of JSON. */
function withJsonErrors({ stdout, stderr }: TextStreams): TextStreams {
  const write = (text: string) => stderr.write(`${errorLine(text.trimEnd(), { status: EXIT.usage })}\n`);
  return { stdout, stderr: { write } };
}

const file = (name: string, description: string): Command =>
  new Command(name).description(description).option('--json', 'print JSON');

/** How the help describes a batch file. */
const FILE = 'file with recorded batches';

function allParameters(): string[] {
  return [...new Set(estimatorNames().flatMap((name) => Object.keys(estimatorOf(name).parameters)))];
}

/** Adds the `name=value` of a repeated option. An estimator with the parameter must allow the value. */
function parameterOf(
  text: string,
  before: Readonly<Record<string, ParameterValue>>,
): Readonly<Record<string, ParameterValue>> {
  try {
    return { ...before, ...parameterFromText(text) };
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

function namesOf(text: string): EstimatorName[] {
  const names = partsOf(text);
  const known = names.filter(isEstimatorName);
  if (known.length !== names.length)
    throw new InvalidArgumentError(`The estimators are ${estimatorNames().join(', ')}.`);
  return known;
}

/** The names in lines that fit a terminal. */
function columns(names: readonly string[]): string {
  const lines = [''];
  for (const name of names) {
    const longer = `${lines.at(-1)}  ${name}`;
    if (longer.length <= 76) lines[lines.length - 1] = longer;
    else lines.push(`  ${name}`);
  }
  return lines.join('\n');
}
