/**
 * TRL's GRPOTrainer with `log_completions=True`, and Unsloth, which patches it: `completions/completions_00012.parquet`, one
 * file a logged step. Groups are blocks of `num_generations` rows; the reward is the weighted sum over the reward functions.
 */

import { finding } from '../../provenance/findings.ts';
import type { Finding } from '../../report.ts';
import { BatchFormatError } from '../format-error.ts';
import type { DumpAdapter, DumpOptions, DumpStep, FoundConfiguration } from './adapter.ts';
import { knownForm } from './dump-batch.ts';
import { type ParquetHead, parquetRows, readParquetHead } from './parquet.ts';
import { promptBlocksStep, scoredRows } from './prompt-blocks.ts';
import { numberOf, promptKey } from './rewards.ts';
import { scorableStep } from './scorable.ts';
import { type DumpSource, withSource } from './source.ts';
import { findTrainingArguments, type TrainingArguments } from './training-args.ts';

const NOT_REWARDS = ['step', 'prompt', 'completion', 'advantage'];
/** Forms by `scale_rewards`; `normalize_then_sum` ignores it. */
const FORMS: Readonly<Record<string, string>> = {
  group: 'trl/grpo',
  true: 'trl/grpo',
  batch: 'trl/grpo-batch',
  none: 'trl/dr-grpo',
  false: 'trl/dr-grpo',
};

/** See the head of this file. */
export const TRL: DumpAdapter = {
  name: 'trl',
  title: 'TRL completions (parquet; also Unsloth)',
  matches: ({ parquet }) =>
    parquet !== undefined &&
    ['prompt', 'completion', 'advantage'].every((name) =>
      parquet.columns.some((column) => column.name === name),
    ),
  estimators: ['trl/grpo', 'trl/dr-grpo', 'trl/grpo-batch', 'trl/gdpo'].map(knownForm),
  async *steps(files, options) {
    for (const file of files) yield await withSource(file, (source) => readStep(source, options));
  },
  find: async (file) => {
    const found = await findTrainingArguments(file);
    return found && fromSettings(found.file, found.settings);
  },
};

async function readStep(source: DumpSource, options: DumpOptions): Promise<DumpStep> {
  const head = await readParquetHead(source);
  const names = rewardColumns(source, head, options);
  const rows = await readRows(source, head, names);
  const trainingStep = numberOf(rows[0]?.step);
  const rewards = names.map((name) => ({
    name,
    value: Float64Array.from(rows, (row) => numberOf(row[name])),
  }));
  const step = promptBlocksStep(
    {
      file: source.path,
      trainingStep,
      prompts: rows.map(({ prompt }) => promptKey(prompt)),
      rewards,
      advantage: Float64Array.from(rows, ({ advantage }) => numberOf(advantage)),
      findings: evaluated(trainingStep, options),
    },
    options,
  );
  return scorableStep(step, scoredRows(rewards));
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

/** The numeric columns that are not TRL's own, or those that the caller names. */
function rewardColumns(
  { path }: DumpSource,
  { columns }: ParquetHead,
  { rewards }: DumpOptions,
): readonly string[] {
  const numeric = columns.filter(({ name, isNumber }) => isNumber && !NOT_REWARDS.includes(name));
  const names = rewards ?? numeric.map(({ name }) => name);
  const missing = names.find((name) => !columns.some((column) => column.name === name));
  if (missing === undefined && names.length > 0) return names;
  const expected =
    missing === undefined
      ? 'a numeric column for each reward function'
      : `a column ${JSON.stringify(missing)}`;
  const found = columns.map(({ name }) => name).join(', ');
  throw new BatchFormatError({ code: 'missing', file: path, expected, found });
}

/** TRL keeps one buffer for training and evaluation and names the file by the step alone. */
function evaluated(step: number, { evalSteps }: DumpOptions): Finding[] {
  if (evalSteps === undefined || !(evalSteps > 0) || !(step > 0) || step % evalSteps !== 0) return [];
  return [finding('evaluation-rows', `The trainer evaluated at step ${step}.`)];
}

function fromSettings(file: string, settings: TrainingArguments): FoundConfiguration {
  const { num_generations: groupSize, reward_weights: weights, eval_strategy: evaluates } = settings;
  const evalSteps = evaluates === 'steps' ? (settings.eval_steps ?? settings.logging_steps) : undefined;
  return {
    file,
    options: {
      ...(isCount(groupSize) ? { groupSize } : {}),
      ...(Array.isArray(weights) ? { weights: weights.map(numberOf) } : {}),
      ...(isCount(evalSteps) ? { evalSteps } : {}),
    },
    estimator: estimatorOfSettings(settings),
  };
}

function estimatorOfSettings(settings: TrainingArguments): FoundConfiguration['estimator'] {
  const { multi_objective_aggregation: aggregation = 'sum_then_normalize', scale_rewards: scale = 'group' } =
    settings;
  if (aggregation === 'normalize_then_sum') return knownForm('trl/gdpo');
  const form = FORMS[String(scale)];
  if (aggregation === 'sum_then_normalize' && form !== undefined) return knownForm(form);
  return { unsupported: `multi_objective_aggregation=${aggregation}, scale_rewards=${scale}` };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0;
}
