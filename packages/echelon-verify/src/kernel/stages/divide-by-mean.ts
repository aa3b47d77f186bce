import { keep } from '../../arithmetic/interval.ts';
import { divider, type Guard } from './division.ts';
import { eachRow, GROUP, type StageKind, setsOf } from './stage.ts';

/** Divide by the group's mean of the scores + ε; a group of one row is not divided by `raw`. */
export interface DivideByMean {
  readonly do: 'divide-by-mean';
  readonly epsilon: number;
  readonly guard?: Guard;
}

/** See {@link DivideByMean}. */
export const DIVIDE_BY_MEAN: StageKind<DivideByMean> = {
  text: ({ epsilon }) => `over the mean of the group, epsilon ${epsilon}`,
  run({ epsilon, guard }, chain, x) {
    const { ids, bounds } = setsOf(GROUP, chain.deviation, chain, chain.scores);
    const { rows, mean, meanError } = bounds;
    const low = mean.map((value, at) => value - meanError[at]!);
    const high = mean.map((value, at) => value + meanError[at]!);
    const added = (column: Float64Array) => column.map((value) => value + epsilon);
    const whole = { value: added(mean), low: added(low), high: added(high) };
    const divide = divider(chain, x, { bare: { value: mean, low, high }, whole }, guard);
    return eachRow(chain, (row, out) => {
      const at = ids[row]!;
      if (rows[at] === 1 && chain.rules.singleton === 'raw') keep(out, x, row);
      else divide(out, row, at);
    });
  },
};
