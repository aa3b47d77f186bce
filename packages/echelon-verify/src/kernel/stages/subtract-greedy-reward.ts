import { blurOf, put } from '../../arithmetic/interval.ts';
import { eachRow, type StageKind, sequencesOf } from './stage.ts';

/** Subtract the reward of a greedy response to the same prompt. */
export interface SubtractGreedyReward {
  readonly do: 'subtract-greedy-reward';
}

/** See {@link SubtractGreedyReward}. The difference rounds once. */
export const SUBTRACT_GREEDY_REWARD: StageKind<SubtractGreedyReward> = {
  text: () => 'less the reward of the greedy response',
  run(_, chain, x) {
    const b = sequencesOf(chain).column('rewardBaseline');
    return eachRow(chain, (t, out) => {
      const [low, high] = [x.low[t]! - b.high[t]!, x.high[t]! - b.low[t]!];
      const blur = blurOf(low, high, 1, chain.arithmetic) + 2 ** -51 * Math.abs(b.value[t]!);
      put(out, t, x.value[t]! - b.value[t]!, low - blur, high + blur);
    });
  },
};
