import { Command, InvalidArgumentError } from 'commander';
import { ALL_ADAPTERS } from '../dumps/steps/registry.ts';
import type { ParameterValue } from '../kernel/estimators/parameters.ts';
import type { StageName } from '../step/model/step-report.ts';
import { stagesOf } from '../step/stages/coverage.ts';
import { orUnreadable, type TextStreams } from './batch-files.ts';
import { type DumpFlags, statedBy, withDumpOptions } from './dump-options.ts';
import { verifyFiles } from './verify-files.ts';

const HELP = `
Formats, each also in gzip: echelon-batch/1, /2 and /3 (JSON or protobuf) and the dumps of other trainers:
${ALL_ADAPTERS.map(({ name, title }) => `  ${name.padEnd(16)} ${title}`).join('\n')}
The content decides the format. In a folder, every file in a known format is read, in step order. Each run, which is \
a folder of one trainer, is judged by its own configuration.

The estimator of a dump is stated (--estimator, --param), found in the run's configuration beside it or one folder \
above (training_args.bin, args.json, config.yaml; for prime-rl configs/orchestrator.toml or rl.toml; for slime \
args.json, a checkpoint of Megatron or the script that starts the run), or inferred. A dump with an inferred estimator \
is never ok.

Each row is exact, rounding (float32 arithmetic can give it, the formula does not), wrong (no float32 evaluation \
gives it) or unverifiable (the batch lacks data). A batch is ok if no row is wrong or unverifiable and no finding is an \
error. Exit status: 0 all batches are ok, 1 a batch is not ok, 2 a file is unreadable, 3 nothing is wrong but something \
is not verified: the estimator or the reward columns were inferred, the rows are of an evaluation, or the dump has no \
advantages.
A file of the format echelon-batch/3 holds optimizer steps. Each stage is reported on its own, from the ratio to the \
reported loss. A step is ok if nothing is wrong and the gradient coefficient of every trained token was verified. Exit \
status 0 needs every stage that the loss has; otherwise it is 3, and the summary names the stages that are not verified. \
A warning about a step, other than a stated gradient scale, makes the status 3 as well. \
A batch or step of which \
gaps.jsonl says that the capture did not take it makes the status 3 as well. --require narrows this to stages of your choice. The ranks of a step are joined, also if only one of their files is named.
The training dumps of NeMo-RL and slime are read as optimizer steps as well, up to 64 MB a file; --from nemo-rl-steps or \
slime-steps reads larger ones. What such steps lack takes nothing from the status of their advantages.
--json prints {"batches": [{"name", "rows", "exact", "rounding", "wrong", "unverifiable", "wrongRows", "roundingRows", \
"findings": [{"code", "severity", "rows", "message"}], "ok", "file", "fingerprint", "diagnosis"}]}; for a dump also \
"format", "configuration", "signal" and "consistent"; for optimizer steps "steps" with "stages", "values" and \
"wrongTokens".
If a row is wrong, "firstWrong" has the first one: {"file", "batch", "row", "explanation", "text"}, with the explanation \
as of "echelon explain", as JSON and as text.

--html FILE writes one HTML file with the advantage batches, their rows and explanations. It opens without a server and \
loads nothing. It stays below 1 MB: batches that are not ok come first, and it says which rows it lacks.

Of a folder, the command says which trainer wrote it and what records the rest: the edit, variable or command is below "Next".

Examples:
  echelon verify                                          # the folder in which you are
  echelon verify outputs/completions                      # TRL with log_completions=True
  echelon verify run.csv --map group=prompt_id,reward=score,advantage=adv --estimator grpo --param epsilon=1e-4
  echelon verify dump.json.gz batch-*.json`;

/** As {@link stagesOf}, with commander's error. */
function stages(text: string): StageName[] {
  try {
    return stagesOf(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

/** The options of `echelon verify`. */
export interface Flags extends DumpFlags {
  require?: StageName[];
  json?: boolean;
  html?: string;
}

/** `echelon verify PATH…`; `io` gives the streams of a run with or without JSON. */
export function verifyCommand(
  io: (options: { json?: boolean | undefined }) => TextStreams,
  parameterOf: (
    text: string,
    before: Readonly<Record<string, ParameterValue>>,
  ) => Readonly<Record<string, ParameterValue>>,
): Command {
  const command = new Command('verify')
    .description("Verify every advantage of recorded batches, or of another trainer's dump.")
    .argument('[paths...]', 'files or folders (default: the folder in which the command runs)')
    .option('--json', 'print JSON')
    .option('--html <file>', 'also write a report in one HTML file')
    .option(
      '--require <stages>',
      'for optimizer steps: stages that exit status 0 needs, separated by commas',
      stages,
    );
  return withDumpOptions(command, parameterOf)
    .addHelpText('after', HELP)
    .action((paths: string[], flags: Flags) => verifyPaths(paths, flags, io(flags), command.parent?.name()));
}

/** What `echelon verify` does with files and folders; it sets the exit status. `program`: its name in hints. */
export async function verifyPaths(
  paths: readonly string[],
  flags: Flags,
  streams: TextStreams,
  program: string | undefined,
): Promise<void> {
  process.exitCode = await orUnreadable(streams, () =>
    verifyFiles(
      paths.length === 0 ? ['.'] : [...paths],
      { ...statedBy(flags), ...(program && { program }) },
      streams,
    ),
  );
}
