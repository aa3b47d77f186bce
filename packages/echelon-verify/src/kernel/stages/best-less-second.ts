import { blurOf, put } from '../../arithmetic/interval.ts';
import { bestOfOthers, setIds, setSums } from '../sets/row-sets.ts';
import { eachRow, GROUP, type StageKind } from './stage.ts';

/** The best row of a group gets the distance to the second best, the other rows get 0. */
export interface BestLessSecond {
  readonly do: 'best-less-second';
}

/** See {@link BestLessSecond}. The difference rounds once. */
export const BEST_LESS_SECOND: StageKind<BestLessSecond> = {
  text: () => 'the best row less the second best of the group, 0 for the others',
  run(_, chain, x) {
    const { ids, sets } = setIds(GROUP, chain, chain.counted);
    const { rows } = setSums(ids, sets, x.value);
    const best = bestOfOthers(ids, sets, x.value);
    const [low, high] = chain.isExact
      ? [best, best]
      : [bestOfOthers(ids, sets, x.low), bestOfOthers(ids, sets, x.high)];
    return eachRow(chain, (row, out) => {
      const value = rows[ids[row]!] === 1 ? 0 : Math.max(0, x.value[row]! - best[row]!);
      if (Number.isNaN(best[row]!)) {
        put(out, row, value, 0, 0);
        return;
      }
      const least = Math.max(0, x.low[row]! - high[row]!);
      const most = Math.max(0, x.high[row]! - low[row]!);
      const blur = blurOf(least, most, 1, chain.arithmetic);
      put(out, row, value, least - blur, most + blur);
    });
  },
};
