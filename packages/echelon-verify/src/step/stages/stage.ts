/**
 * What a stage of a step is: one object in one file, which says when a step has the stage, what it needs and what it compares. The file
 * of a stage that numbers pass also has the function that gives the value with its bounds. The words of all stages stand in the
 * report (model/step-report.ts), which people read without this engine.
 */

import type { Interval } from '../../arithmetic/interval.ts';
import type { StepBatch } from '../../format/step-batch.ts';
import { CODE, judge } from '../model/judge.ts';
import type { StepModel, TokenChain } from '../model/model.ts';

/** What all stages have. */
export interface StepStage {
  /** True if the stated loss has the stage. Of a loss that is not known, all. Omitted: every step has it. */
  isUsed?(batch: StepBatch): boolean;
  /** What the stage needs, if the step has nothing of it. */
  readonly needs: readonly string[];
  /** True for a factor of the gradient coefficient: without a reported number of its own, a verified coefficient verifies it. */
  readonly isFactor?: true;
  /** What the stage lacks beside what its report or a verified gradient say. */
  lacksBeside?(batch: StepBatch): string[];
}

/** Receives each wrong token of the batch, in order. */
export type OnWrong = (token: number) => void;

/** How many tokens are right and wrong. */
export interface ExactOutcome {
  readonly right: number;
  readonly wrong: number;
  /** Which rules are broken, and how often. */
  readonly detail?: string;
}

/** A stage that is decided exactly, from integers and flags. */
export interface ExactStage extends StepStage {
  /** Undefined without its columns. */
  check(batch: StepBatch, onWrong: OnWrong): ExactOutcome | undefined;
}

/** A stage that is decided token by token: it compares a reported column with what the chain gives. */
export interface TokenStage extends StepStage {
  /** Its name in an explanation. */
  readonly title: string;
  /** Undefined if the step does not have the stage. */
  compare(model: StepModel): Comparison | undefined;
  /** What an explanation says of the token in the chain. */
  note?(model: StepModel): string;
}

/** A reported column, and what is expected in its place. */
export interface Comparison {
  /** What the stage needs and the step lacks. With any, every token is unverifiable. */
  readonly lacks: readonly string[];
  /** Undefined: the trainer reports no number. */
  readonly reported: Float32Array | Uint8Array | undefined;
  term(chain: TokenChain, token: number): Interval;
  /** Size of the parts of which the value is the sum. */
  size(chain: TokenChain): number;
  /** True if an error can be one factor of many tokens. */
  readonly isShared: boolean;
  /** The outcome, a value of CODE, of a token whose chain is filled. */
  judge(chain: TokenChain, token: number): number;
}

/** A comparison with the interval of the stage. `mayLeave`: an infinity or NaN after a number that leaves the range is unverifiable. */
export function comparison({
  reported,
  term,
  size,
  lacks,
  mayLeave = false,
  isShared = true,
}: Omit<Comparison, 'judge' | 'isShared'> & {
  readonly mayLeave?: boolean;
  readonly isShared?: boolean;
}): Comparison {
  return {
    ...{ reported, term, size, lacks, isShared },
    judge(chain, token) {
      const number = reported![token]!;
      // Which of them it is depends on the form of the code.
      if (mayLeave && !Number.isFinite(number) && mayOverflow(chain)) return CODE.unverifiable;
      return judge(number, term(chain, token), size(chain));
    },
  };
}

/**
 * True if a number on the way to the loss leaves the range of the arithmetic, or may: then what follows may be infinite or NaN
 * (0 · ∞), also where the exact result is finite.
 */
function mayOverflow({ ratio, state, weight, kl }: TokenChain): boolean {
  const reach = [ratio.high, state.ratio + state.ratioError, weight.high, kl.value.high];
  return !reach.every(Number.isFinite);
}
