import { Command, InvalidArgumentError, Option } from 'commander';
import type { ParameterValue } from '../../kernel/estimators/parameters.ts';
import type { EstimatorName } from '../../kernel/estimators/registry.ts';
import { estimatorNames } from '../../kernel/estimators/registry.ts';
import type { Mapping } from '../../verify/format/dumps/adapter.ts';
import { ADAPTERS } from '../../verify/format/dumps/registry.ts';
import { wholeNumber } from '../arguments.ts';
import { orUnreadable, type TextStreams } from '../batch-files.ts';
import { verifyFiles } from '../verify-files.ts';

const MEANINGS: readonly (keyof Mapping)[] = ['group', 'reward', 'advantage', 'trajectory', 'step'];

const HELP = `
Reads echelon-batch/1 (JSON, gzipped or not, or protobuf) and what other trainers write to disk:
${ADAPTERS.map(({ name, title }) => `  ${name.padEnd(16)} ${title}`).join('\n')}
The content decides the format. Of a folder, every file in a known format is read, in step order.

The estimator of a dump is stated (--estimator, --param), found in the run's configuration (training_args.bin),
or inferred. An inferred one is evidence, never ok.

Each row is exact, rounding (float32 can give it, the formula does not), wrong (nothing can) or unverifiable (what it
needs is not in the batch). A batch is ok without wrong and unverifiable rows and without error findings.
Exit status: 0 all ok, 1 something is not, 2 a file is unreadable, 3 nothing is wrong but something is not verified:
the estimator was inferred, or the dump has no advantages.
--json prints {"batches": [{"name", "rows", "exact", "rounding", "wrong", "unverifiable", "wrongRows", "roundingRows",
"findings": [{"code", "severity", "rows", "message"}], "ok", "file", "fingerprint", "diagnosis"}]}; of a dump also
"format", "configuration", "signal" and "consistent".

Examples:
  echelon verify outputs/completions                      # TRL with log_completions=True
  echelon verify run.csv --map group=prompt_id,reward=score,advantage=adv --estimator grpo --param epsilon=1e-4
  echelon verify dump.json.gz batch-*.json`;

interface Flags {
  json?: boolean;
  from?: string;
  estimator?: EstimatorName;
  param: Readonly<Record<string, ParameterValue>>;
  groupSize?: number;
  rewards?: string[];
  weights?: number[];
  map?: Mapping;
}

/** `echelon verify PATH…`; `io` gives the streams of a run with or without JSON. */
export function verifyCommand(
  io: (options: { json?: boolean | undefined }) => TextStreams,
  parameterOf: (
    text: string,
    before: Readonly<Record<string, ParameterValue>>,
  ) => Readonly<Record<string, ParameterValue>>,
): Command {
  return new Command('verify')
    .description("check every advantage of recorded batches, or of another trainer's dump")
    .argument('<paths...>', 'files or folders')
    .option('--json', 'print JSON, for scripts')
    .addOption(
      new Option('--from <name>', 'read every file as this format').choices(ADAPTERS.map(({ name }) => name)),
    )
    .addOption(
      new Option('--estimator <name>', 'of a dump: the estimator of the run').choices(estimatorNames()),
    )
    .option('--param <name=value>', 'of a dump: a parameter of the estimator; repeatable', parameterOf, {})
    .option('--group-size <n>', 'of a dump: responses per prompt', wholeNumber(1, 1e6))
    .option('--rewards <columns>', 'of a dump: the columns that are rewards, separated by commas', texts)
    .option('--weights <numbers>', 'of a dump: a factor for each reward column, separated by commas', numbers)
    .option('--map <meaning=column,...>', `of a table: columns for ${MEANINGS.join(', ')}`, mapping)
    .addHelpText('after', HELP)
    .action(async (paths: string[], { param, ...flags }: Flags) => {
      const streams = io(flags);
      const params = Object.keys(param).length === 0 ? {} : { params: param };
      process.exitCode = await orUnreadable(streams, () =>
        verifyFiles(paths, { ...flags, ...params }, streams),
      );
    });
}

function texts(text: string): string[] {
  return text.split(',').map((name) => name.trim());
}

function numbers(text: string): number[] {
  const found = texts(text).map(Number);
  if (found.some((number) => !Number.isFinite(number)))
    throw new InvalidArgumentError('not numbers, separated by commas');
  return found;
}

function mapping(text: string): Mapping {
  const pairs = texts(text).map((pair) => /^(\w+)=(.+)$/.exec(pair));
  const known: readonly string[] = MEANINGS;
  if (pairs.some((pair) => pair === null || !known.includes(pair[1]!)))
    throw new InvalidArgumentError(`not MEANING=COLUMN, with a meaning of ${MEANINGS.join(', ')}`);
  return Object.fromEntries(pairs.map((pair) => [pair![1]!, pair![2]!]));
}
