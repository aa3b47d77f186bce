import { Command, InvalidArgumentError, Option } from 'commander';
import type { ParameterValue } from '../../kernel/estimators/parameters.ts';
import type { EstimatorName } from '../../kernel/estimators/registry.ts';
import { estimatorNames } from '../../kernel/estimators/registry.ts';
import type { Precision } from '../../verify/bounds/arithmetic.ts';
import { type Mapping, MEANINGS, mappingFromTexts } from '../../verify/format/dumps/adapter.ts';
import { ADAPTERS } from '../../verify/format/dumps/registry.ts';
import { precisionOption, wholeNumber } from '../arguments.ts';
import { orUnreadable, type TextStreams } from '../batch-files.ts';
import { verifyFiles } from '../verify-files.ts';

const HELP = `
Formats, each also in gzip: echelon-batch/1 and /2 (JSON or protobuf) and the dumps of other trainers:
${ADAPTERS.map(({ name, title }) => `  ${name.padEnd(16)} ${title}`).join('\n')}
The content decides the format. In a folder, every file in a known format is read, in step order. Each run, which is
a folder of one trainer, is judged by its own configuration.

The estimator of a dump is stated (--estimator, --param), found in the run's configuration beside it or one folder
above (training_args.bin, args.json, config.yaml; for prime-rl configs/orchestrator.toml or rl.toml; for slime args.json, a
checkpoint of Megatron or the script that starts the run), or inferred. A
dump with an inferred estimator is never ok.

Each row is exact, rounding (float32 arithmetic can give it, the formula does not), wrong (no float32 evaluation
gives it) or unverifiable (the batch lacks data). A batch is ok if no row is wrong or unverifiable and no finding is an
error. Exit status: 0 all batches are ok, 1 a batch is not ok, 2 a file is unreadable, 3 nothing is wrong but something
is not verified: the estimator or the reward columns were inferred, the rows are of an evaluation, or the dump has no
advantages.
--json prints {"batches": [{"name", "rows", "exact", "rounding", "wrong", "unverifiable", "wrongRows", "roundingRows",
"findings": [{"code", "severity", "rows", "message"}], "ok", "file", "fingerprint", "diagnosis"}]}; for a dump also
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
  precision?: Precision;
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
    .description("Verify every advantage of recorded batches, or of another trainer's dump.")
    .argument('<paths...>', 'files or folders')
    .option('--json', 'print JSON')
    .addOption(
      new Option('--from <name>', 'read every file as this format').choices(ADAPTERS.map(({ name }) => name)),
    )
    .addOption(new Option('--estimator <name>', 'for a dump: estimator of the run').choices(estimatorNames()))
    .option('--param <name=value>', 'for a dump: parameter of the estimator; repeatable', parameterOf, {})
    .addOption(precisionOption('for a dump: '))
    .option('--group-size <n>', 'for a dump: number of responses per prompt', wholeNumber(1, 1e6))
    .option('--rewards <columns>', 'for a dump: reward columns, separated by commas', texts)
    .option('--weights <numbers>', 'for a dump: factors of the reward columns, separated by commas', numbers)
    .option('--map <meaning=column,...>', `for a table: columns for ${MEANINGS.join(', ')}`, mapping)
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
    throw new InvalidArgumentError('It must be numbers, separated by commas.');
  return found;
}

function mapping(text: string): Mapping {
  try {
    return mappingFromTexts(texts(text));
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}
