import { blurOf, put } from '../../arithmetic/interval.ts';
import { eachRow, type StageKind } from './stage.ts';

/** Multiply by the rows of the batch over its rows with a score other than 0. */
export interface MultiplyBySignalShare {
  readonly do: 'multiply-by-signal-share';
}

/** See {@link MultiplyBySignalShare}. The factor and the product round. */
export const MULTIPLY_BY_SIGNAL_SHARE: StageKind<MultiplyBySignalShare> = {
  text: () => 'times rows over rows with a score other than 0',
  run(_, chain, x) {
    const factor = signalFactor(chain.scores.value, chain.counted);
    return eachRow(chain, (row, out) => {
      const [low, high] = [factor * x.low[row]!, factor * x.high[row]!];
      const blur = blurOf(low, high, 3.01, chain.arithmetic);
      put(out, row, factor * x.value[row]!, low - blur, high + blur);
    });
  },
};

function signalFactor(scores: Float64Array, counted: Uint8Array): number {
  let rows = 0;
  let signal = 0;
  for (let row = 0; row < scores.length; row++) {
    if (counted[row] === 0) continue;
    rows++;
    if (scores[row] !== 0) signal++;
  }
  return rows / Math.max(1, signal);
}
