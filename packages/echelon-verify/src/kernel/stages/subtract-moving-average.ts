import { blurOf, put } from '../../arithmetic/interval.ts';
import { idCount } from '../sets/steps.ts';
import { eachRow, type StageKind } from './stage.ts';

/** x_i ← x_i − b, then b ← decay · b + (1 − decay) · x_i, one b for each group, rows in their order. */
export interface SubtractMovingAverage {
  readonly do: 'subtract-moving-average';
  readonly decay: number;
  readonly start: number;
}

/** See {@link SubtractMovingAverage}. b rounds six times, its terms at most |b| + |x|, the rounded decay included, in this form and in b + (1 − decay)(x − b). */
export const SUBTRACT_MOVING_AVERAGE: StageKind<SubtractMovingAverage> = {
  text: ({ decay }) => `less the moving average of the group, decay ${decay}`,
  run({ decay, start }, chain, x) {
    const { group, arithmetic } = chain;
    const { unit, tiny } = arithmetic;
    const groups = idCount('group', group);
    const baseline = new Float64Array(groups).fill(start);
    const error = new Float64Array(groups).fill(unit * Math.abs(start));
    return eachRow(chain, (row, out) => {
      const g = group[row]!;
      const [value, b, off] = [x.value[row]!, baseline[g]!, error[g]!];
      const [low, high] = [x.low[row]! - b - off, x.high[row]! - b + off];
      const blur = blurOf(low, high, 1, arithmetic);
      put(out, row, value - b, low - blur, high + blur);
      const own = Math.max(x.high[row]! - value, value - x.low[row]!);
      baseline[g] = decay * b + (1 - decay) * value;
      error[g] =
        decay * off + (1 - decay) * own + 6.06 * unit * (Math.abs(b) + Math.abs(value) + off + own) + tiny;
    });
  },
};
