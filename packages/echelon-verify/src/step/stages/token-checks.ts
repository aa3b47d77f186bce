/** Stages that are decided token by token from the chain: each compares one reported column. */

import type { Interval } from '../../arithmetic/interval.ts';
import { emptyInterval } from '../../arithmetic/interval.ts';
import { SIDE } from '../losses/loss.ts';
import { mayOverflow, type StepModel, type TokenChain } from '../model/chain.ts';
import { CODE, judge } from '../model/judge.ts';
import { lackingComputedWeight } from '../model/needs.ts';
import type { StageName } from '../model/step-report.ts';

/** A stage of a token. */
export interface TokenCheck {
  readonly stage: StageName;
  /** What the stage needs and the step lacks. With any, every token is unverifiable. */
  readonly lacks: readonly string[];
  /** The outcome, a value of CODE, of a token whose chain is filled. */
  judge(chain: TokenChain, token: number): number;
  /** What is compared, if an error can be one factor of many tokens. */
  readonly compared?: Compared;
}

/** A reported column, and what is expected in its place. */
export interface Compared {
  readonly reported: Float32Array;
  term(chain: TokenChain, token: number): Interval;
  /** Size of the parts of which the value is the sum. */
  size(chain: TokenChain): number;
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
  const ofRow = loss?.row === undefined ? undefined : emptyInterval();
  const own = loss?.row === undefined ? lacks.ratio : lacks.loss;
  const term = ({ ratio, state }: TokenChain): Interval => {
    if (ofRow === undefined) return ratio;
    ofRow.value = state.ratio;
    ofRow.low = state.ratio - state.ratioError;
    ofRow.high = state.ratio + state.ratioError;
    return ofRow;
  };
  const size = ({ state }: TokenChain): number => state.ratio;
  return {
    stage: 'ratio',
    lacks: own,
    judge: (chain, token) => judge(reportedRatio[token]!, term(chain), size(chain)),
    compared: { reported: reportedRatio, term, size },
  };
};

const weightCheck: MakeCheck = ({ batch, computedWeight }) => {
  const { rolloutWeight } = batch.tokens;
  if (rolloutWeight === undefined) return undefined;
  const lacks = lackingComputedWeight(batch);
  const term = emptyInterval();
  const fill = (_chain: TokenChain, token: number): Interval => {
    computedWeight?.(token, term);
    return term;
  };
  return {
    stage: 'weight',
    lacks,
    judge: (chain, token) => judge(rolloutWeight[token]!, fill(chain, token), term.value),
    compared: { reported: rolloutWeight, term: fill, size: () => term.value },
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
  const weighted = emptyInterval();
  const term = ({ weight, loss: { loss } }: TokenChain): Interval => {
    if (!isWeighted) return loss;
    const error = Math.max(loss.high - loss.value, loss.value - loss.low);
    const spread = Math.max(weight.high - weight.value, weight.value - weight.low);
    weighted.value = loss.value * weight.value;
    // A product rounds once more; the second unit covers the rounding of the error itself.
    const own = 2 * arithmetic.unit * Math.abs(weighted.value);
    const off = error * weight.high + Math.abs(loss.value) * spread + own;
    weighted.low = weighted.value - off;
    weighted.high = weighted.value + off;
    return weighted;
  };
  const size = ({ loss: { loss } }: TokenChain): number => Math.abs((isWeighted ? weighted : loss).value);
  return {
    stage: 'loss',
    lacks: isWeighted ? [...new Set([...lacks.loss, ...lacks.weight])] : lacks.loss,
    judge(chain, token) {
      if (isBeyond(reportedLoss[token]!, chain)) return CODE.unverifiable;
      return judge(reportedLoss[token]!, term(chain), size(chain));
    },
    compared: { reported: reportedLoss, term, size },
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
  const size = ({ policyPart, klPart }: TokenChain): number =>
    Math.abs(policyPart.value) + Math.abs(klPart.value);
  return {
    stage: 'gradient',
    lacks: lossGradient === undefined ? [...lacks.gradient, 'tokens.lossGradient'] : lacks.gradient,
    judge(chain, token) {
      if (isBeyond(lossGradient![token]!, chain)) return CODE.unverifiable;
      return judge(lossGradient![token]!, chain.gradient, size(chain));
    },
    ...(lossGradient && {
      compared: { reported: lossGradient, term: ({ gradient }: TokenChain) => gradient, size },
    }),
  };
};
