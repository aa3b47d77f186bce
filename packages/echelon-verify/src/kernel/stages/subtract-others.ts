import { put } from '../../arithmetic/interval.ts';
import { eachRow, GROUP, putSingle, type StageKind, setsOf } from './stage.ts';

/** x_i ← x_i − mean x over the other rows of i's group. */
export interface SubtractOthers {
  readonly do: 'subtract-others';
}

/** See {@link SubtractOthers}. In every form of the leave-one-out difference; see `boundLeaveOneOut` in level-value.ts. */
export const SUBTRACT_OTHERS: StageKind<SubtractOthers> = {
  text: () => 'less the mean of the other rows of the group',
  run(_, chain, x) {
    const { ids, bounds } = setsOf(GROUP, chain.deviation, chain, x);
    const { unit } = chain.arithmetic;
    return eachRow(chain, (row, out) => {
      const at = ids[row]!;
      const n = bounds.rows[at]!;
      const value = x.value[row]!;
      if (n === 1) {
        putSingle(out, chain, x, row);
        return;
      }
      const scale = n / (n - 1);
      const mean = bounds.mean[at]!;
      const error = bounds.meanError[at]!;
      const own = Math.max(x.high[row]! - value, value - x.low[row]!);
      const off = scale * (value - mean);
      const terms = scale * (Math.abs(value) + Math.abs(mean) + error + own);
      const blur = scale * (error + own) + (6.06 * unit + 2 ** -50) * terms + unit * Math.abs(off);
      put(out, row, off, off - blur, off + blur);
    });
  },
};
