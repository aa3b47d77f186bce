import { partsOf, wholeNumber } from 'command-kit/arguments';
import { shellWord } from 'command-kit/shell-word';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { PRECISIONS, type Precision } from '../arithmetic/arithmetic.ts';
import { type Mapping, MEANINGS, mappingFromTexts } from '../dumps/adapter.ts';
import { ALL_ADAPTERS } from '../dumps/steps/registry.ts';
import type { ParameterValue } from '../kernel/estimators/parameters.ts';
import type { EstimatorName } from '../kernel/estimators/registry.ts';
import { estimatorNames } from '../kernel/estimators/registry.ts';
import type { StatedDump } from '../verify/verify-dump.ts';

/** What a user states of dumps of other trainers. */
export interface StatedFiles extends StatedDump {
  /** Name of the adapter that reads every file. */
  readonly from?: string | undefined;
}

type Parameters = Readonly<Record<string, ParameterValue>>;

/** The options of {@link withDumpOptions}, as commander gives them. */
export interface DumpFlags {
  from?: string;
  estimator?: EstimatorName;
  param: Parameters;
  precision?: Precision;
  groupSize?: number;
  rewards?: string[];
  weights?: number[];
  map?: Mapping;
}

/** `--map`: which columns of a table mean what. */
export function mapOption(): Option {
  return new Option(
    '--map <meaning=column,...>',
    `for a table: columns for ${MEANINGS.join(', ')}`,
  ).argParser(mapping);
}

/** `--precision`: the arithmetic of the trainer. `prefix` says to which files it applies. */
export function precisionOption(prefix = ''): Option {
  const text =
    'arithmetic of the trainer; bfloat16-output and float16-output: float32, advantages rounded to 16 bits';
  return new Option('--precision <name>', `${prefix}${text}`).choices(PRECISIONS);
}

/** The command with the options that say how to read dumps of other trainers. */
export function withDumpOptions(
  command: Command,
  parameterOf: (text: string, before: Parameters) => Parameters,
): Command {
  return command
    .addOption(
      new Option('--from <name>', 'read every file as this format').choices(
        ALL_ADAPTERS.map(({ name }) => name),
      ),
    )
    .addOption(new Option('--estimator <name>', 'for a dump: estimator of the run').choices(estimatorNames()))
    .option('--param <name=value>', 'for a dump: parameter of the estimator; repeatable', parameterOf, {})
    .addOption(precisionOption('for a dump: '))
    .option('--group-size <n>', 'for a dump: number of responses per prompt', wholeNumber(1, 1e6))
    .option('--rewards <columns>', 'for a dump: reward columns, separated by commas', partsOf)
    .option('--weights <numbers>', 'for a dump: factors of the reward columns, separated by commas', numbers)
    .addOption(mapOption());
}

/** The flags without those that are omitted. */
export function statedBy<F extends DumpFlags>({
  param,
  ...flags
}: F): Omit<F, 'param'> & { params?: Parameters } {
  return { ...flags, ...(Object.keys(param).length === 0 ? {} : { params: param }) };
}

/** The options that give the same again, each as the words of a shell. */
export function optionsText(stated: StatedFiles): string {
  const { from, estimator, params = {}, precision, groupSize, rewards, weights, map = {} } = stated;
  const pairs = (entries: object) => Object.entries(entries).map(([key, value]) => `${key}=${value}`);
  const given: [string, string | number | undefined][] = [
    ['--from', from],
    ['--estimator', estimator],
    ...pairs(params).map((pair): [string, string] => ['--param', pair]),
    ['--precision', precision],
    ['--group-size', groupSize],
    ['--rewards', rewards?.join(',')],
    ['--weights', weights?.join(',')],
    ['--map', Object.keys(map).length === 0 ? undefined : pairs(map).join(',')],
  ];
  return given
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name} ${shellWord(String(value))}`)
    .join('');
}

function numbers(text: string): number[] {
  const found = partsOf(text).map(Number);
  if (found.some((number) => !Number.isFinite(number)))
    throw new InvalidArgumentError('It must be numbers, separated by commas.');
  return found;
}

function mapping(text: string): Mapping {
  try {
    return mappingFromTexts(partsOf(text));
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}
