import { blurOf, put } from '../../arithmetic/interval.ts';
import { eachRow, type StageKind } from './stage.ts';

/** Clip to ±limit. */
export interface Clip {
  readonly do: 'clip';
  readonly limit: number;
}

/** See {@link Clip}. The limit rounds once. */
export const CLIP: StageKind<Clip> = {
  text: ({ limit }) => `clipped to ±${limit}`,
  run({ limit }, chain, x) {
    const clipped = (v: number): number => Math.min(Math.max(v, -limit), limit);
    return eachRow(chain, (row, out) => {
      const [low, high] = [clipped(x.low[row]!), clipped(x.high[row]!)];
      const blur = blurOf(low, high, 1, chain.arithmetic);
      put(out, row, clipped(x.value[row]!), low - blur, high + blur);
    });
  },
};
