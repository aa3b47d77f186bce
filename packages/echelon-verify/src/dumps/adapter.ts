/** What reads another trainer's dump: the interface of the adapters, one file each in this folder. */

import type { BatchEstimator, TokenColumns } from '../format/batch.ts';
import type { Finding } from '../report/report.ts';
import type { EvaluationPlan } from './evaluation.ts';
import type { ParquetHead } from './parquet.ts';
import type { LoggedRewards } from './trainer-state.ts';

/** The beginning of a file, which decides its format. */
export interface FileStart {
  readonly path: string;
  readonly bytes: Uint8Array;
  /** If the file is parquet. */
  readonly parquet?: ParquetHead;
  /** The keys of the JSON object in the first line, and what their values are. */
  readonly keys?: ReadonlyMap<string, 'array' | 'object' | 'scalar'>;
  /** The names in the first line, if it is one of a CSV file. */
  readonly header?: readonly string[];
  /** True for a zip file, as torch.save writes it. */
  readonly isZip: boolean;
}

/** Ids by row, dense, and their names. */
export interface Names {
  readonly ids: Int32Array;
  readonly names: readonly string[];
}

/** What one reward function gave, NaN if it gave nothing. */
export interface RewardFunction {
  readonly name: string;
  readonly weight: number;
  readonly value: Float64Array;
}

/** One training step as a dump holds it: what a group-relative estimator starts from and what the trainer made of it. */
export interface DumpStep {
  readonly name: string;
  readonly file: string;
  readonly trainingStep?: number;
  readonly group: Names;
  /** Omitted: each row is a trajectory of its own. */
  readonly trajectory?: Names;
  /** The same rows, compared in other ways, if nothing in the dump says in which way the trainer did. */
  readonly otherReadings?: readonly DumpStep[];
  /** The scalar reward of each row, as the estimator takes it. */
  readonly reward: Float64Array;
  /** How far each reward may be from the trainer's float32 number, if it is a sum in unknown order. */
  readonly rewardError?: Float64Array;
  /** Each reward function's own column, if there are several. */
  readonly rewards?: readonly RewardFunction[];
  readonly advantage?: Float64Array;
  /** 1 for rows without an advantage, if some have one: their number in the column is NaN. */
  readonly unreported?: Uint8Array;
  /** 1 for rows without a reward, if nothing says that no function scored them: their number in the column is NaN. */
  readonly unrewarded?: Uint8Array;
  /** The tokens of each row, if the tokens of a row have different advantages. */
  readonly tokens?: TokenColumns;
  /** Trained tokens of each row. */
  readonly responseLength?: Int32Array;
  /** Rows per group, if known. */
  readonly groupSize?: number;
  /** Rows of the dump, if some of them are not in the columns above. */
  readonly rowsInDump?: number;
  /** True if the format gives reward functions of one name a single column. */
  readonly sharesColumns?: boolean;
  /** Why nothing can be said of the rows, if so: they are not those of the training, or columns are missing. */
  readonly unjudged?: Finding;
  /** Why the rows may not be those of the training, if that shows only by the rows that do not fit. */
  readonly doubtful?: Finding;
  /** What the adapter found about the rows: order, blocks, missing ones. */
  readonly findings: readonly Finding[];
}

/** Columns of a table by what they mean. */
export interface Mapping {
  readonly group?: string;
  readonly reward?: string;
  readonly advantage?: string;
  readonly trajectory?: string;
  /** Training step: rows with different values belong to different batches. */
  readonly step?: string;
}

/** What a column of a table can mean. */
export const MEANINGS: readonly (keyof Mapping)[] = ['group', 'reward', 'advantage', 'trajectory', 'step'];

/** The mapping of texts `meaning=column`. Throws a RangeError that says what they must be. */
export function mappingFromTexts(texts: readonly string[]): Mapping {
  const pairs = texts.map((text) => /^(\w+)=(.+)$/.exec(text));
  const known: readonly string[] = MEANINGS;
  if (pairs.some((pair) => pair === null || !known.includes(pair[1]!)))
    throw new RangeError(`It must be MEANING=COLUMN; the meanings are ${MEANINGS.join(', ')}.`);
  return Object.fromEntries(pairs.map((pair) => [pair![1]!, pair![2]!]));
}

/** What the caller states, or a configuration file of the run. */
export interface DumpOptions {
  /** Rows per group. */
  readonly groupSize?: number;
  /** Names of the columns that are rewards. */
  readonly rewards?: readonly string[];
  /** One factor for each reward column. */
  readonly weights?: readonly number[];
  readonly map?: Mapping;
  /** What is known of the evaluations whose rows can be in the dump. */
  readonly evaluation?: EvaluationPlan;
  /** Rows of a rollout that the trainer takes in blocks: by any other number, all rows are one group. */
  readonly blockRows?: number;
  /** Rows of each step. */
  readonly rowsPerStep?: number;
  /** Number of reward functions, if the names of their columns are not known. */
  readonly functions?: number;
  /** True if the trainer recorded that reward functions share a name, so that columns are missing. */
  readonly sharesNames?: boolean;
  /** What the trainer logged at its steps. */
  readonly logged?: ReadonlyMap<number, LoggedRewards>;
  /** Settings of the run that its estimator does not use, in words. */
  readonly withoutEffect?: readonly string[];
}

/** A configuration file of the run, as far as it concerns the advantages. */
export interface FoundConfiguration {
  readonly file: string;
  readonly options: DumpOptions;
  /** The estimator that it states; or in words a setting that cannot be verified, or why the file cannot be read. */
  readonly estimator: BatchEstimator | { readonly unsupported: string } | { readonly unreadable: string };
}

/** Reads what lies beside all files of a run once, by a key. */
export type Once = <T>(key: string, read: () => Promise<T>) => Promise<T>;

/** Reads the dumps of one trainer. */
export interface DumpAdapter {
  /** For `--from`. */
  readonly name: string;
  /** Trainer and kind of file, for people. */
  readonly title: string;
  /** True if the file is this trainer's, judged by its content. */
  matches(start: FileStart): boolean;
  /** The steps of these files, which are in step order. Holds one step at a time. Throws a BatchFormatError. */
  steps(files: readonly string[], options: DumpOptions): AsyncIterable<DumpStep>;
  /** What the trainer can be configured to, its default first. Empty: anything. */
  readonly estimators: readonly BatchEstimator[];
  /** The folder of the run that wrote a file. Default: the folder of the file. */
  runOf?(file: string): string;
  /**
   * The columns that can be those of the reward functions, the usual choice first, if neither the format nor the options
   * tell which are.
   */
  rewardChoices?(file: string, options: DumpOptions): Promise<readonly (readonly string[])[]>;
  /** The run's configuration file near a dump, if there is one that can be read. */
  find?(file: string, once?: Once): Promise<FoundConfiguration | undefined>;
}
