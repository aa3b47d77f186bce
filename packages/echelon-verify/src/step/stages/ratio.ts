/** The importance ratio of a token, or of its row. */

import { significant } from 'command-kit/number';
import { around, emptyInterval, errorOf } from '../../arithmetic/interval.ts';
import { expError, type StepArithmetic } from '../losses/arithmetic.ts';
import { SIDE } from '../losses/loss.ts';
import { type StepModel, statedLoss, type TokenChain } from '../model/model.ts';
import { comparison, type TokenStage } from './stage.ts';

/** The difference of two inputs rounds once; beyond a clamp the ratio is constant, and within the rounding of it either. */
export function fillRatio({ state, ratio }: TokenChain, clamp: number, arithmetic: StepArithmetic): void {
  const difference = state.logProb - state.oldLogProb;
  const size = Math.abs(difference);
  const band = 2 * arithmetic.unit * size;
  state.logRatio = Math.max(-clamp, Math.min(clamp, difference));
  state.moves = size + band < clamp ? 1 : size - band > clamp ? 0 : -1;
  const exact = Math.exp(state.logRatio);
  around(ratio, exact, difference === 0 ? 0 : exact * expError(state.logRatio, arithmetic));
  state.ratio = ratio.value;
  state.ratioError = ratio.value === Number.POSITIVE_INFINITY ? 0 : errorOf(ratio);
}

/** Without old log-probs the ratio is 1 for every token. A loss with one ratio per row reports that ratio. */
export const RATIO: TokenStage = {
  title: 'ratio',
  isFactor: true,
  needs: [],
  isUsed: (batch) => statedLoss(batch)?.ignoresOld !== true,
  compare({ batch, lacks, loss }) {
    const isOfRow = loss?.row !== undefined;
    const ofRow = emptyInterval();
    return comparison({
      reported: batch.tokens.reportedRatio,
      lacks: isOfRow ? lacks.loss : lacks.ratio,
      term({ ratio, state }) {
        if (!isOfRow) return ratio;
        ofRow.value = state.ratio;
        ofRow.low = state.ratio - state.ratioError;
        ofRow.high = state.ratio + state.ratioError;
        return ofRow;
      },
      size: ({ state }) => state.ratio,
    });
  },
  note: edgeText,
};

/** Why the token is clipped: the number that is compared, and the limit. */
function edgeText({ chain: { loss, state }, lacks, loss: policyLoss, params }: StepModel): string {
  const edge =
    lacks.loss.length > 0 || loss.side === SIDE.none ? undefined : policyLoss?.edge?.(state, params);
  if (edge === undefined) return '';
  const { of, value, limit } = edge;
  if (loss.side === SIDE.undecided)
    return `${of} ${show(value)} is at the limit ${show(limit)}: either side is admitted`;
  const clip = (loss.side === SIDE.lower ? policyLoss?.lowerSide : undefined) ?? 'clipped';
  const sign = state.advantage > 0 ? '>' : '<';
  return `${clip}: ${of} ${show(value)} is ${value > limit ? 'above' : 'below'} ${show(limit)}, advantage ${sign} 0`;
}

const show = (value: number): string => significant(value, 8);
