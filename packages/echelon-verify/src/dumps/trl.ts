/**
 * TRL's GRPOTrainer with `log_completions=True`, and Unsloth, which patches it: `completions/completions_00012.parquet`, one
 * file a logged step. Groups are blocks of `num_generations` rows; the reward is the weighted sum over the reward functions.
 */

import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { significant } from 'command-kit/number';
import { counted } from 'command-kit/plural';
import { BatchFormatError } from '../format/format-error.ts';
import { finding } from '../report/findings.ts';
import type { Finding } from '../report/report.ts';
import type { DumpAdapter, DumpOptions, DumpStep, FoundConfiguration } from './adapter.ts';
import { columnOf, numbersIn } from './cells.ts';
import { estimatorOfId, estimatorOfSettings } from './dump-batch.ts';
import { evaluationFindings, evaluationPlan } from './evaluation.ts';
import { type ParquetHead, parquetRows, readParquetHead } from './parquet.ts';
import { promptBlocksStep, unscoredAsNaN } from './prompt-blocks.ts';
import { numberOf, promptKey } from './rewards.ts';
import { foldersOfRun } from './run-folders.ts';
import { type DumpSource, withSource } from './source.ts';
import { findTrainerState, type TrainerState } from './trainer-state.ts';
import { findTrainingArguments, type TrainingArguments } from './training-args.ts';

/** The folder of the dumps in that of the run. */
const FOLDER = 'completions';
const NOT_REWARDS = ['step', 'prompt', 'completion', 'advantage'];
/** Up to 1.5, a row that no function scored counts as 0. The arguments of later versions have this setting. */
const SINCE_1_6 = 'vllm_importance_sampling_clip_max';
const UP_TO_1_5 = '-1.5';
const NAMES = ['trl/grpo', 'trl/dr-grpo', 'trl/grpo-batch', 'trl/gdpo'];

/** See the head of this file. */
export const TRL: DumpAdapter = {
  name: 'trl',
  title: 'TRL completions (parquet; also Unsloth)',
  matches: ({ parquet }) =>
    parquet !== undefined &&
    ['prompt', 'completion', 'advantage'].every((name) =>
      parquet.columns.some((column) => column.name === name),
    ),
  estimators: [...NAMES, ...NAMES.map((name) => name + UP_TO_1_5)].map(estimatorOfId),
  async *steps(files, options) {
    for (const file of files) yield await withSource(file, (source) => readStep(source, options));
  },
  rewardChoices: async (file, options) => {
    if (options.rewards !== undefined || options.functions !== undefined) return [];
    const { columns } = await withSource(file, readParquetHead);
    const names = rewardLike(columns);
    return names.map((_, fewer) => names.slice(0, names.length - fewer));
  },
  find: async (file, once = (_key, read) => read()) => {
    const folder = dirname(file);
    const run = await once(folder, async () => {
      const folders = foldersOfRun(file, FOLDER);
      return { folders, state: await findTrainerState(file, folders), lastStep: lastStepIn(folder) };
    });
    const found = await findTrainingArguments(file, run.folders);
    return found && fromSettings(found, run);
  },
};

async function readStep(source: DumpSource, options: DumpOptions): Promise<DumpStep> {
  const head = await readParquetHead(source);
  const names = rewardColumns(source, head, options);
  const rows = await readRows(source, head, names);
  const trainingStep = numberOf(rows[0]?.step);
  // pandas, which writes the file, has one sign for NaN and for what is absent.
  const column = (name: string) =>
    columnOf(
      numbersIn(
        rows.map((row) => row[name]),
        name,
        { file: source.path },
      ),
    );
  const rewards = names.map((name) => ({
    name,
    value: column(name),
  }));
  const { weights, ...others } = options;
  const missing = hidden(names, options);
  const step = promptBlocksStep(
    {
      file: source.path,
      trainingStep,
      prompts: rows.map(({ prompt }) => promptKey(prompt)),
      rewards,
      advantage: column('advantage'),
    },
    missing === undefined ? options : others,
  );
  return {
    ...unscoredAsNaN(step),
    sharesColumns: true,
    ...(missing === undefined ? {} : { unjudged: missing }),
    findings: [...step.findings, ...loggedFindings(rewards, options, trainingStep)],
    ...evaluationFindings(options.evaluation, trainingStep),
  };
}

/** Relative agreement of a logged mean with that of the rows, in float32. */
const NEAR = 1e-3;

/** The logged reward against the weights, at a step whose logged means are those of its rows. */
function loggedFindings(
  rewards: readonly { readonly name: string; readonly value: Float64Array }[],
  { logged, weights }: DumpOptions,
  trainingStep: number,
): Finding[] {
  const entry = logged?.get(trainingStep);
  if (entry === undefined || rewards.length !== entry.means.size) return [];
  const terms = rewards.map(({ name, value }, at) => {
    const mean = value.reduce((sum, one) => sum + one / value.length, 0);
    return { mean, own: entry.means.get(name), term: (weights?.[at] ?? 1) * mean };
  });
  const size = terms.reduce((sum, { term }) => sum + Math.abs(term), Math.abs(entry.reward));
  const isOfRows = terms.every(
    ({ mean, own }) => own !== undefined && Math.abs(mean - own) <= NEAR * Math.max(Math.abs(mean), 1e-6),
  );
  const total = terms.reduce((sum, { term }) => sum + term, 0);
  if (!isOfRows || Math.abs(total - entry.reward) <= NEAR * size) return [];
  const by = weights === undefined ? 'weights of 1' : `the weights ${weights.join(', ')}`;
  const text = `The trainer logged ${significant(entry.reward, 6)}; ${by} give ${significant(total, 6)}.`;
  return [finding('rewards-logged', text)];
}

/** Functions of one name share a column, which has the values of the last of them only. */
function hidden(
  names: readonly string[],
  { rewards, functions, sharesNames }: DumpOptions,
): Finding | undefined {
  if (rewards !== undefined) return undefined;
  if (functions === undefined ? sharesNames !== true : functions <= names.length) return undefined;
  const of =
    functions === undefined ? 'several reward functions' : `${counted(functions, 'reward function')}`;
  const text = `The run has ${of}, the dump ${counted(names.length, 'reward column')} (${names.join(', ')}): functions of one name share a column, which holds the values of the last one only.`;
  return finding('rewards-incomplete', text);
}

async function readRows(
  source: DumpSource,
  head: ParquetHead,
  rewards: readonly string[],
): Promise<Record<string, unknown>[]> {
  const columns = ['step', 'prompt', ...rewards, 'advantage'];
  const rows: Record<string, unknown>[] = [];
  for await (const group of parquetRows(source, head, columns)) for (const row of group) rows.push(row);
  return rows;
}

/** The columns that the caller names or the trainer recorded, else those that can be of reward functions. */
function rewardColumns(
  { path }: DumpSource,
  { columns }: ParquetHead,
  { rewards, functions }: DumpOptions,
): readonly string[] {
  const names = rewards ?? rewardLike(columns).slice(0, functions);
  const missing = names.find((name) => !columns.some((column) => column.name === name));
  if (missing === undefined && names.length > 0) return names;
  const expected =
    missing === undefined
      ? 'a numeric column for each reward function'
      : `a column ${JSON.stringify(missing)}`;
  const found = columns.map(({ name }) => name).join(', ');
  throw new BatchFormatError({ code: 'missing', file: path, expected, found });
}

/** Reward functions stand first, and give floating-point numbers; what they log stands after them. */
function rewardLike(columns: ParquetHead['columns']): string[] {
  const others = columns.filter(({ name }) => !NOT_REWARDS.includes(name));
  const end = others.findIndex(({ isFloat }) => !isFloat);
  return others.slice(0, end === -1 ? others.length : end).map(({ name }) => name);
}

/** What lies beside all files of a run. */
interface RunRecord {
  readonly state: TrainerState | undefined;
  readonly lastStep: number | undefined;
}

function fromSettings(
  { file, settings }: { readonly file: string; readonly settings: TrainingArguments },
  { state, lastStep }: RunRecord,
): FoundConfiguration {
  const {
    num_generations: groupSize,
    reward_weights: weights,
    generation_batch_size: rowsPerStep,
  } = settings;
  const evaluation = evaluationPlan(settings, state, lastStep);
  return {
    file,
    options: {
      ...(isCount(groupSize) ? { groupSize } : {}),
      ...(isCount(rowsPerStep) ? { rowsPerStep } : {}),
      ...(Array.isArray(weights) ? { weights: weights.map(numberOf), functions: weights.length } : {}),
      ...(evaluation === undefined ? {} : { evaluation }),
      ...recordedRewards(state, Array.isArray(weights)),
      ...(state === undefined || state.logged.size === 0 ? {} : { logged: state.logged }),
    },
    estimator: estimatorOf(settings),
  };
}

/** The last step of the files in a folder; undefined if it cannot be listed. */
function lastStepIn(folder: string): number | undefined {
  try {
    return Math.max(...readdirSync(folder).map((name) => Number(/(\d+)\.parquet$/.exec(name)?.[1] ?? -1)));
  } catch {
    return undefined;
  }
}

function recordedRewards(state: TrainerState | undefined, isWeighted: boolean): DumpOptions {
  if (state === undefined || state.rewards.length === 0 || isWeighted) return {};
  return { functions: state.rewards.length, ...(state.sharesNames ? { sharesNames: true } : {}) };
}

function estimatorOf(settings: TrainingArguments): FoundConfiguration['estimator'] {
  const known = estimatorOfSettings('trl', { ...settings, before_1_6: !(SINCE_1_6 in settings) });
  if (known !== undefined) return known;
  const { multi_objective_aggregation: aggregation = 'sum_then_normalize', scale_rewards: scale = 'group' } =
    settings;
  return { unsupported: `multi_objective_aggregation=${aggregation}, scale_rewards=${scale}` };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0;
}
