/** Stages that are decided token by token from the chain: each compares one reported column. */

import { emptyTerm } from '../arithmetic.ts';
import { mayOverflow, type StepModel, type TokenChain } from '../chain.ts';
import { CODE, judge } from '../judge.ts';
import { SIDE } from '../losses/loss.ts';
import { lackingComputedWeight } from '../needs.ts';
import type { StageName } from '../step-report.ts';

/** A stage of a token. */
export interface TokenCheck {
  readonly stage: StageName;
  /** What the stage needs and the step lacks. With any, every token is unverifiable. */
  readonly lacks: readonly string[];
  /** The outcome, a value of CODE, of a token whose chain is filled. */
  judge(chain: TokenChain, token: number): number;
}

/** The checks of a step: those of its reported columns, and the gradient in any case. */
export function tokenChecks(model: StepModel): TokenCheck[] {
  const all = [ratioCheck, weightCheck, clipCheck, lossCheck, klCheck, gradientCheck];
  return all.flatMap((check) => check(model) ?? []);
}

type MakeCheck = (model: StepModel) => TokenCheck | undefined;

/** True for an infinity or NaN after a number that leaves the range: which of them it is, depends on the form of the code. */
function isBeyond(reported: number, chain: TokenChain): boolean {
  return !Number.isFinite(reported) && mayOverflow(chain);
}

const ratioCheck: MakeCheck = ({ batch, lacks, loss }) => {
  const { reportedRatio } = batch.tokens;
  if (reportedRatio === undefined) return undefined;
  const ofRow = loss?.row === undefined ? undefined : emptyTerm();
  const own = loss?.row === undefined ? lacks.ratio : lacks.loss;
  return {
    stage: 'ratio',
    lacks: own,
    judge({ ratio, state }, token) {
      if (ofRow === undefined) return judge(reportedRatio[token]!, ratio, ratio.value);
      ofRow.value = state.ratio;
      ofRow.low = state.ratio - state.ratioError;
      ofRow.high = state.ratio + state.ratioError;
      return judge(reportedRatio[token]!, ofRow, state.ratio);
    },
  };
};

const weightCheck: MakeCheck = ({ batch, computedWeight }) => {
  const { rolloutWeight } = batch.tokens;
  if (rolloutWeight === undefined) return undefined;
  const lacks = lackingComputedWeight(batch);
  const term = emptyTerm();
  return {
    stage: 'weight',
    lacks,
    judge(_chain, token) {
      computedWeight?.(token, term);
      return judge(rolloutWeight[token]!, term, term.value);
    },
  };
};

const clipCheck: MakeCheck = ({ batch, lacks }) => {
  const { reportedClipped } = batch.tokens;
  if (reportedClipped === undefined) return undefined;
  return {
    stage: 'clip',
    lacks: lacks.loss,
    judge({ loss }, token) {
      if (loss.side === SIDE.undecided) return CODE.rounding;
      return loss.side === reportedClipped[token] ? CODE.exact : CODE.wrong;
    },
  };
};

const lossCheck: MakeCheck = ({ batch, lacks, arithmetic, loss: policyLoss }) => {
  const { reportedLoss } = batch.tokens;
  if (reportedLoss === undefined) return undefined;
  const isWeighted =
    (batch.step.rolloutCorrection !== undefined || batch.tokens.rolloutWeight !== undefined) &&
    policyLoss?.usesWeight !== true;
  const term = emptyTerm();
  return {
    stage: 'loss',
    lacks: isWeighted ? [...new Set([...lacks.loss, ...lacks.weight])] : lacks.loss,
    judge(chain, token) {
      const { weight } = chain;
      const { loss } = chain.loss;
      if (isBeyond(reportedLoss[token]!, chain)) return CODE.unverifiable;
      if (!isWeighted) return judge(reportedLoss[token]!, loss, Math.abs(loss.value));
      const error = Math.max(loss.high - loss.value, loss.value - loss.low);
      const spread = Math.max(weight.high - weight.value, weight.value - weight.low);
      const size = Math.abs(loss.value * weight.value);
      // A product rounds once more; the second unit covers the rounding of the error itself.
      const off = error * weight.high + Math.abs(loss.value) * spread + 2 * arithmetic.unit * size;
      term.value = loss.value * weight.value;
      term.low = term.value - off;
      term.high = term.value + off;
      return judge(reportedLoss[token]!, term, size);
    },
  };
};

const klCheck: MakeCheck = ({ batch, lacks }) => {
  const { reportedKl } = batch.tokens;
  if (reportedKl === undefined) return undefined;
  const { kl } = batch.step;
  return {
    stage: 'kl',
    lacks: kl === undefined ? ['step.kl'] : lacks.kl,
    judge: (chain, token) =>
      isBeyond(reportedKl[token]!, chain)
        ? CODE.unverifiable
        : judge(reportedKl[token]!, chain.kl.value, Math.abs(chain.kl.value.value)),
  };
};

const gradientCheck: MakeCheck = ({ batch, lacks }) => {
  const { lossGradient } = batch.tokens;
  return {
    stage: 'gradient',
    lacks: lossGradient === undefined ? [...lacks.gradient, 'tokens.lossGradient'] : lacks.gradient,
    judge(chain, token) {
      const { gradient, policyPart, klPart } = chain;
      if (isBeyond(lossGradient![token]!, chain)) return CODE.unverifiable;
      const size = Math.abs(policyPart.value) + Math.abs(klPart.value);
      return judge(lossGradient![token]!, gradient, size);
    },
  };
};
