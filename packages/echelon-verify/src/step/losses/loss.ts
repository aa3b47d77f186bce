/** What a policy loss is: one file for each in this folder. */

import type { Interval } from '../../arithmetic/interval.ts';
import { emptyInterval } from '../../arithmetic/interval.ts';
import type { StepTokens } from '../../format/step-batch.ts';
import type { ColumnKey } from '../../format/step-columns.ts';
import type { StepArithmetic } from './arithmetic.ts';

/** One token on its way through a loss. Inputs are exact; the ratio has the trainer's possible error. */
export interface TokenState {
  logProb: number;
  advantage: number;
  /** logProb − oldLogProb, within the clamp. */
  logRatio: number;
  /** exp of it; for a loss with one ratio per row, that ratio. */
  ratio: number;
  /** How far the trainer's ratio may be from it. */
  ratioError: number;
  /** exp(oldLogProb), used by losses on probabilities only. */
  oldLogProb: number;
  /** The advantage of the row, if the loss averages it. */
  rowAdvantage: number;
  rowAdvantageError: number;
  /** 1: the ratio changes with the log-prob. 0: the log-ratio is clamped. -1: either. */
  moves: number;
}

/**
 * Side of a token: which clip fraction of the trainers counts it. What the two fractions count is the loss's own: the lower one counts
 * dual-clipped tokens of PPO clip, capped ones of DPPO, and clipped ones with A < 0 of GMPO.
 */
export const SIDE = { undecided: -1, none: 0, clip: 1, lower: 2 } as const;

/** What a loss gives for a token: its loss, the derivative by logProb, and its side. */
export interface LossTerms {
  readonly loss: Interval;
  readonly gradient: Interval;
  side: number;
}

/** Terms to reuse. */
export const emptyLoss = (): LossTerms => ({
  loss: emptyInterval(),
  gradient: emptyInterval(),
  side: SIDE.none,
});

/** The tokens of one row, for losses with one ratio per row. */
export interface RowTokens {
  readonly start: number;
  readonly end: number;
  /** 1 for tokens that contribute. */
  readonly kept: Uint8Array | undefined;
  readonly logProb: Float32Array;
  readonly oldLogProb: Float32Array;
  /** The advantage of a token. */
  advantageOf(token: number): number;
  /** The logarithm of the rollout weight of a token; 0 without a correction. */
  logWeightOf(token: number): number;
  /** How far the trainer's logarithm of the rollout weight may be off; Infinity if the weight may be 0 or not. */
  logWeightErrorOf(token: number): number;
  /** True if the row has one rollout weight. */
  readonly hasRowWeight: boolean;
}

/** What a row gives all its tokens. */
export interface RowState {
  /** The ratio of the row, and its possible error. */
  ratio: number;
  ratioError: number;
  /** The advantage of the row, if the loss averages it. */
  advantage: number;
  advantageError: number;
}

/** A parameter: the value if omitted, and its meaning for the documentation. null: switched off. */
export interface LossParameter {
  readonly fallback: number | null;
  readonly means: string;
  /** Other values that `identify` tries: those that cannot be read off the gradients. */
  readonly guesses?: readonly (number | null)[];
  /** True if the gradient depends on it linearly, so that `identify` solves for it. One of a loss at most. */
  readonly isLinear?: true;
}

/** The parameters of a loss: complete, numbers by name. Those that are switched off are NaN. */
export type LossParameters = Readonly<Record<string, number>>;

/** The limit beyond which a token is clipped, and the number that is compared with it. */
export interface ClipEdge {
  readonly of: 'ratio' | 'log-ratio' | 'change of the probability';
  readonly value: number;
  readonly limit: number;
}

/** One policy loss. Values are those before mask, rollout weight and denominator. */
export interface PolicyLoss {
  readonly name: string;
  /** The loss of a token, as text. */
  readonly formula: string;
  /** Where trainers define it. */
  readonly source: string;
  readonly parameters: Readonly<Record<string, LossParameter>>;
  /** Columns that it reads beside the log-probs and the advantage. Without one, its tokens are unverifiable. */
  readonly columns?: readonly ColumnKey[];
  /** True if the loss does not depend on the old log-probs. */
  readonly ignoresOld?: boolean;
  /** True if the rollout weight is part of the loss, so that it does not multiply the loss once more. */
  readonly usesWeight?: boolean;
  /** What a token of the lower clip fraction is called. Omitted: clipped. */
  readonly lowerSide?: string;
  /** True if the importance ratio itself is one per row. */
  readonly hasRowRatio?: boolean;
  /** What a row gives all its tokens: filled before the tokens of the row. */
  row?(tokens: RowTokens, params: LossParameters, to: { row: RowState; arithmetic: StepArithmetic }): void;
  /** What is compared with −clipLow and clipHigh, if the gradient is 0 beyond them: `identify` looks for the place at which it stops. */
  measure?(token: TokenState): number;
  /** The limit that a token's number is nearest to or beyond, for people. Omitted: the loss clips nothing. */
  edge?(token: TokenState, params: LossParameters): ClipEdge;
  /** The function that fills `out` from a token, which is entry `at` of the columns. It is made once for a step. */
  bind(
    params: LossParameters,
    to: { out: LossTerms; arithmetic: StepArithmetic; tokens: StepTokens },
  ): (token: TokenState, at: number) => void;
}
