/** The side of the clip on which a token is, as the trainer's clip fractions count it. */

import { emptyInterval, exactly } from '../../arithmetic/interval.ts';
import { SIDE } from '../losses/loss.ts';
import { CODE } from '../model/judge.ts';
import { statedLoss } from '../model/model.ts';
import type { TokenStage } from './stage.ts';

/** Sides are equal or not; within the errors of ratio and edge, either is admitted. */
export const CLIP: TokenStage = {
  title: 'clip side',
  isFactor: true,
  needs: [],
  isUsed(batch) {
    const loss = statedLoss(batch);
    return loss === undefined || loss.edge !== undefined;
  },
  compare({ batch, lacks }) {
    const { reportedClipped: reported } = batch.tokens;
    if (reported === undefined) return undefined;
    const side = emptyInterval();
    return {
      reported,
      lacks: lacks.loss,
      isShared: false,
      term({ loss }) {
        exactly(side, Math.max(SIDE.none, loss.side));
        return side;
      },
      size: () => 0,
      judge({ loss }, token) {
        if (loss.side === SIDE.undecided) return CODE.rounding;
        return loss.side === reported[token] ? CODE.exact : CODE.wrong;
      },
    };
  },
};
