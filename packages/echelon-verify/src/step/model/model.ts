/** What can be computed of a step, and the numbers of one token on its way through the stages. */

import type { Interval } from '../../arithmetic/interval.ts';
import type { StepBatch } from '../../format/step-batch.ts';
import type { ColumnKey } from '../../format/step-columns.ts';
import type { StepArithmetic } from '../losses/arithmetic.ts';
import type { LossParameters, LossTerms, PolicyLoss, TokenState } from '../losses/loss.ts';
import { lossOf } from '../losses/registry.ts';
import type { Layout } from './layout.ts';

/** The KL term of a token: value without its coefficient, and derivative by logProb. */
export interface KlTerms {
  readonly value: Interval;
  readonly gradient: Interval;
}

/** The stages of one token. Reused from token to token. */
export interface TokenChain {
  readonly state: TokenState;
  readonly ratio: Interval;
  /** Policy loss before weight and denominator, its derivative, and the side. */
  readonly loss: LossTerms;
  readonly weight: Interval;
  readonly kl: KlTerms;
  /** Parts of the gradient coefficient, with denominator and scale. */
  readonly policyPart: Interval;
  readonly klPart: Interval;
  readonly gradient: Interval;
}

/** What can be computed of a step. */
export interface StepModel {
  readonly batch: StepBatch;
  readonly layout: Layout;
  readonly arithmetic: StepArithmetic;
  readonly loss: PolicyLoss | undefined;
  readonly params: LossParameters;
  readonly chain: TokenChain;
  /** 1 for tokens that contribute to the loss; undefined: all do. */
  readonly kept: Uint8Array | undefined;
  /** What a stage lacks, by the names of columns and settings; empty: it can be computed. */
  readonly lacks: Readonly<
    Record<'ratio' | 'loss' | 'weight' | 'kl' | 'aggregation' | 'gradient', readonly string[]>
  >;
  /** True if a rollout weight multiplies the policy loss. */
  readonly isWeighted: boolean;
  /** What divides the loss of a token of the row, without the scale. */
  divisorOf(row: number): number;
  klDivisorOf(row: number): number;
  /** Factor between the aggregated loss and the one that was passed to `backward()`. */
  scaleOf(microBatch: number): number;
  /** The same for the KL term, whose aggregation may be its own. */
  klScaleOf(microBatch: number): number;
  advantageOf(row: number, token: number): number;
  /** The weight that the stated correction gives, whatever the batch reports. Undefined without what it needs. */
  readonly computedWeight: ((token: number, weight: Interval) => void) | undefined;
  /** Call it before the tokens of a row. */
  startRow(row: number): void;
  /** Fills the chain, as far as the batch has what it needs. */
  evaluate(row: number, token: number): TokenChain;
}

/** The columns that a batch lacks, as keys such as `tokens.logProb`. */
export function lacking({ tokens }: StepBatch, keys: readonly ColumnKey[]): string[] {
  return keys.filter((key) => tokens[key] === undefined).map((key) => `tokens.${key}`);
}

/** The stated loss; undefined if none is stated, or one that is not known. */
export function statedLoss({ step }: StepBatch): PolicyLoss | undefined {
  return step.policyLoss && lossOf(step.policyLoss.name);
}

/** True if tokens have a rollout weight, stated or recorded. */
export function hasWeight({ step, tokens }: StepBatch): boolean {
  return step.rolloutCorrection !== undefined || tokens.rolloutWeight !== undefined;
}
