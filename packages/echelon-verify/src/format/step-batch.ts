import type { Finding } from '../report/report.ts';
import type { StepSettings } from './step-settings.ts';

/** Names of rows as dense ids. */
export interface Names {
  /** Index into `names`, one for each row. */
  readonly ids: Int32Array;
  readonly names: readonly string[];
}

/**
 * The tokens of a step. Those of row i are `offset[i]` to `offset[i + 1] - 1`; the other columns have one entry per token.
 * columns.ts says what each means.
 */
export interface StepTokens {
  readonly offset: Int32Array;
  readonly mask?: Uint8Array;
  readonly sampled?: Uint8Array;
  readonly kept?: Uint8Array;
  readonly reportedClipped?: Uint8Array;
  readonly id?: Int32Array;
  readonly sampledId?: Int32Array;
  readonly position?: Int32Array;
  readonly policyVersion?: Int32Array;
  readonly logProb?: Float32Array;
  readonly oldLogProb?: Float32Array;
  readonly rolloutLogProb?: Float32Array;
  readonly referenceLogProb?: Float32Array;
  readonly reportedAdvantage?: Float32Array;
  readonly reportedRatio?: Float32Array;
  readonly rolloutWeight?: Float32Array;
  readonly entropy?: Float32Array;
  readonly reportedKl?: Float32Array;
  readonly reportedLoss?: Float32Array;
  readonly lossGradient?: Float32Array;
}

/**
 * One optimizer step in memory: its layout and settings, rows in the batch's own order, and token columns. A column that the
 * trainer does not have is omitted; a stage that needs it is unverifiable. Float columns hold what the trainer's tensors held.
 */
export interface StepBatch {
  readonly name: string;
  readonly note?: string;
  readonly step: StepSettings;
  readonly rows: number;
  readonly group?: Names;
  readonly trajectory?: Names;
  /** Index into `step.microBatches`. Omitted: all rows are in micro-batch 0. */
  readonly microBatch?: Int32Array;
  /** Versions of the policy that generated the first and the last token of the row. */
  readonly policyVersionStart?: Int32Array;
  readonly policyVersionEnd?: Int32Array;
  /** The advantage of all tokens of the row; `tokens.reportedAdvantage` has precedence. */
  readonly reportedAdvantage?: Float32Array;
  /** The part of the divisor that is the row's own, as the trainer counted it: tokens of the row or its group. 0 divides by 1. */
  readonly reportedDenominator?: Float32Array;
  /** Texts of token ids, for people. */
  readonly idTexts?: ReadonlyMap<number, string>;
  readonly tokens: StepTokens;
  /** Why the step has not the micro-batches of all ranks, although others are recorded. */
  readonly notJoined?: { readonly reason: 'repeated' | 'disagree'; readonly ranks: readonly number[] };
  /** What the reader of a dump found about the files of the step. Not on the wire. */
  readonly findings?: readonly Finding[];
}
