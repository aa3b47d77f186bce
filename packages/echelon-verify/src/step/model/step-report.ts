/** What the verification of a step says. All plain JSON. */

import type { ReportedKey, StepPrecision } from '../../format/step-settings.ts';
import type { Finding, RowOutcome } from '../../report/report.ts';
import type { EngineSums } from '../engines/sums.ts';

/** The stages of a step that have outcomes, in the order in which a token passes them. */
export const STAGES = {
  rows: 'rows of the loss are rows of the rollout: token ids and old log-probs',
  advantage: 'advantages of the loss are those that were estimated for their rows',
  tokens: 'trained token ids are the sampled ones',
  mask: 'the mask holds sampled tokens only, and no other token has a gradient',
  once: 'each token is trained once per pass',
  versions: 'policy versions are possible and within the stated staleness',
  ratio: 'importance ratio',
  weight: 'weight of the rollout correction',
  clip: 'clip side',
  loss: 'policy loss of the token',
  kl: 'value of the KL estimator',
  gradient: 'gradient coefficient: advantage, ratio, clip side, weight, KL and denominator',
  denominator: 'denominators of micro-batches and rows',
  reported: 'reported values of the step and its micro-batches',
} as const;
export type StageName = keyof typeof STAGES;

/** Counts of outcomes of one stage, over tokens, rows, micro-batches or values. */
export interface StageReport {
  stage: StageName;
  of: 'tokens' | 'rows' | 'micro-batches' | 'denominators' | 'values';
  exact: number;
  rounding: number;
  wrong: number;
  unverifiable: number;
  /** Columns and settings that the stage needs and the step does not have. */
  lacks: string[];
  /** Which rules of the stage are broken, and how often. */
  detail?: string;
}

/** Counts of rows. A row without a trained token is exact. */
export type RowCounts = Pick<StageReport, 'exact' | 'rounding' | 'wrong' | 'unverifiable'>;

/** A token that breaks a stage. */
export interface WrongToken {
  row: number;
  /** Position in the row, from 0. */
  token: number;
  stage: StageName;
}

/** A reported value beside the recomputed one. */
export interface ValueReport {
  /** The key of `step.reported`, or of a micro-batch. */
  name:
    | ReportedKey
    | `microBatches[${number}].reportedLoss`
    | `microBatches[${number}].reported.${ReportedKey}`;
  reported: number;
  expected: number;
  /** How far a correct trainer's value may be from the expected one. */
  error: number;
  outcome: RowOutcome;
  /** How the micro-batches were reduced; null for one micro-batch. */
  reduction: string | null;
  /** Why it is unverifiable. */
  lacks: string[];
  /** The sum of the micro-batches divided by a reported mean of them, if that is no number of micro-batches there can be. */
  times?: number;
}

/** Which of the stages that the stated loss has are verified, and what the others lack. */
export interface Coverage {
  readonly verified: readonly StageName[];
  readonly missing: readonly { readonly stage: StageName; readonly lacks: readonly string[] }[];
}

/** What verification found in one step. */
export interface StepReport {
  name: string;
  rows: number;
  tokens: number;
  /** Tokens that contribute to the loss. */
  trained: number;
  /** The stated arithmetic, in one line. */
  arithmetic: string;
  precision: StepPrecision;
  /** True if the precision was not stated and follows from the values. */
  precisionInferred: boolean;
  stages: StageReport[];
  coverage: Coverage;
  values: ValueReport[];
  /** Outcomes of rows: that of the worst token. */
  ofRows: RowCounts;
  /** The first 1,000 wrong rows. */
  wrongRows: number[];
  /** The first wrong tokens; the counts of the stages are complete. */
  wrongTokens: WrongToken[];
  findings: Finding[];
  /** Sums over pairs of log-probs of trainer and rollout engine, if the step has both. They can be added over steps. */
  engines?: EngineSums;
  /** Nothing is wrong, no finding is an error, and every trained token's gradient coefficient was verified. */
  ok: boolean;
  /** Nothing is wrong and no finding is an error, whether or not anything was verified. */
  consistent: boolean;
}

/** The report of a step and its file. */
export type StepFileReport = StepReport & {
  readonly file: string;
  /** Likely causes, of the first steps that are not right. */
  readonly causes?: readonly string[];
};
