import { blurOf, put } from '../../arithmetic/interval.ts';
import type { RowSet } from '../sets/row-sets.ts';
import { eachRow, putSingle, type StageKind, setsOf, setText } from './stage.ts';

/** x_i ← x_i − mean x over the set of row i. */
export interface SubtractMean {
  readonly do: 'subtract-mean';
  readonly set: RowSet;
}

/** See {@link SubtractMean}. The difference rounds once. */
export const SUBTRACT_MEAN: StageKind<SubtractMean> = {
  text: ({ set }) => `less the mean of ${setText(set)}`,
  run({ set }, chain, x) {
    // Of the mean, the kind of deviation says nothing.
    const { ids, bounds } = setsOf(set, chain.deviation, chain, x);
    const { rows, mean, meanError } = bounds;
    const isGroup = set.over === 'group';
    return eachRow(chain, (row, out) => {
      const at = ids[row]!;
      if (isGroup && rows[at] === 1) {
        putSingle(out, chain, x, row);
        return;
      }
      const m = mean[at]!;
      if (chain.isExact) {
        out.value[row] = x.value[row]! - m;
        return;
      }
      const error = meanError[at]!;
      const low = x.low[row]! - m - error;
      const high = x.high[row]! - m + error;
      // The difference of two close numbers: the float64 evaluation here rounds both.
      const own = 2 ** -51 * Math.abs(m);
      const blur = blurOf(low, high, 1, chain.arithmetic);
      put(out, row, x.value[row]! - m, low - blur - own, high + blur + own);
    });
  },
};
