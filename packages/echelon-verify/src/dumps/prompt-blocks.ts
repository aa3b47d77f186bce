import { counted } from 'command-kit/plural';
import { present } from '../base/present.ts';
import { finding } from '../report/findings.ts';
import type { Finding } from '../report/report.ts';
import type { DumpOptions, DumpStep, RewardFunction } from './adapter.ts';
import { type Blocks, blocksOf, runBlocks } from './blocks.ts';
import { namesOf } from './dump-batch.ts';
import { weightedRewards } from './rewards.ts';

/** A logged step of a trainer whose groups are blocks of rows with one prompt. */
export interface PromptBlocks {
  readonly file: string;
  readonly trainingStep: number;
  /** One text a row. */
  readonly prompts: readonly string[];
  readonly rewards: readonly { readonly name: string; readonly value: Float64Array }[];
  /** If the trainer writes it. */
  readonly advantage?: Float64Array;
  readonly unreported?: Uint8Array;
  /** 1 for rows without a reward, if that does not say that no function scored them. */
  readonly unrewarded?: Uint8Array;
  readonly findings?: readonly Finding[];
}

/** The step with groups by position, and with the weighted sum of its reward functions as reward. */
export function promptBlocksStep(step: PromptBlocks, { groupSize, weights }: DumpOptions): DumpStep {
  const { file, trainingStep, prompts, rewards, advantage, unreported, unrewarded } = step;
  const { sum, error } = weightedRewards(
    rewards.map(({ value }) => value),
    weights,
    file,
  );
  const numbered = Number.isInteger(trainingStep);
  const [blocks, ...others] = groupsOf(prompts, groupSize).map(
    ({ group, findings }): DumpStep => ({
      name: numbered ? `step ${trainingStep}` : file,
      file,
      ...(numbered ? { trainingStep } : {}),
      group,
      reward: sum,
      ...(error === undefined ? {} : { rewardError: error }),
      ...(rewards.length === 0
        ? {}
        : { rewards: rewards.map((one, i): RewardFunction => ({ ...one, weight: weights?.[i] ?? 1 })) }),
      ...present({ advantage, unreported, unrewarded, groupSize }),
      findings: [...findings, ...(step.findings ?? [])],
    }),
  );
  return others.length === 0 ? blocks! : { ...blocks!, otherReadings: others };
}

/** The ways to group the rows; one without groups if nothing tells any. */
function groupsOf(prompts: readonly string[], groupSize: number | undefined): Blocks[] {
  if (groupSize !== undefined) return [blocksOf(prompts, groupSize)];
  const found = runBlocks(prompts);
  if (found.length > 0) return found;
  const text = `No prompt occurs twice in a row in ${counted(prompts.length, 'row')}.`;
  const unknown = prompts.length === 0 ? [] : [finding('group-size-unknown', text)];
  return [{ group: namesOf(prompts), findings: unknown }];
}

/** The step with NaN as the reward of rows that no function scored: what they count as is the estimator's. */
export function unscoredAsNaN({ otherReadings, ...step }: DumpStep): DumpStep {
  const isScored = (row: number): boolean =>
    (step.rewards ?? []).some(({ value }) => !Number.isNaN(value[row]!));
  const reward = step.reward.map((own, row) => (isScored(row) ? own : Number.NaN));
  return {
    ...step,
    reward,
    ...(otherReadings === undefined
      ? {}
      : { otherReadings: otherReadings.map((one) => ({ ...one, reward })) }),
  };
}
