import type { IntervalColumn } from '../../arithmetic/interval.ts';
import { ACCUMULATE, type Accumulate } from './accumulate.ts';
import { BEST_LESS_SECOND, type BestLessSecond } from './best-less-second.ts';
import { CLIP, type Clip } from './clip.ts';
import { DIVIDE_BY_DEVIATION, type DivideByDeviation } from './divide-by-deviation.ts';
import { DIVIDE_BY_MEAN, type DivideByMean } from './divide-by-mean.ts';
import { MULTIPLY_BY_SIGNAL_SHARE, type MultiplyBySignalShare } from './multiply-by-signal-share.ts';
import type { Chain, StageKind } from './stage.ts';
import { SUBTRACT_GREEDY_REWARD, type SubtractGreedyReward } from './subtract-greedy-reward.ts';
import { SUBTRACT_MEAN, type SubtractMean } from './subtract-mean.ts';
import { SUBTRACT_MOVING_AVERAGE, type SubtractMovingAverage } from './subtract-moving-average.ts';
import { SUBTRACT_OTHERS, type SubtractOthers } from './subtract-others.ts';
import { SUBTRACT_TOKEN_BASELINE, type SubtractTokenBaseline } from './subtract-token-baseline.ts';

/** One step of a chain. */
export type Stage =
  | Accumulate
  | BestLessSecond
  | Clip
  | DivideByDeviation
  | DivideByMean
  | MultiplyBySignalShare
  | SubtractGreedyReward
  | SubtractMean
  | SubtractMovingAverage
  | SubtractOthers
  | SubtractTokenBaseline;

/** All stages, by name: the only list of them. */
const STAGES: { readonly [K in Stage['do']]: StageKind<Extract<Stage, { do: K }>> } = {
  accumulate: ACCUMULATE,
  'best-less-second': BEST_LESS_SECOND,
  clip: CLIP,
  'divide-by-deviation': DIVIDE_BY_DEVIATION,
  'divide-by-mean': DIVIDE_BY_MEAN,
  'multiply-by-signal-share': MULTIPLY_BY_SIGNAL_SHARE,
  'subtract-greedy-reward': SUBTRACT_GREEDY_REWARD,
  'subtract-mean': SUBTRACT_MEAN,
  'subtract-moving-average': SUBTRACT_MOVING_AVERAGE,
  'subtract-others': SUBTRACT_OTHERS,
  'subtract-token-baseline': SUBTRACT_TOKEN_BASELINE,
};

function kindOf(stage: Stage): StageKind<Stage> {
  return STAGES[stage.do] as StageKind<Stage>;
}

/** A stage of a chain in words. */
export function stageText(stage: Stage): string {
  return kindOf(stage).text(stage);
}

/** The column after a stage. */
export function runStage(stage: Stage, chain: Chain, x: IntervalColumn): IntervalColumn {
  return kindOf(stage).run(stage, chain, x);
}
