/** The tokens of slime's training dump, for estimators that give each token its own advantage. */

import { present } from '../base/present.ts';
import type { TokenColumns } from '../format/batch.ts';

/** What a sample holds of its tokens. */
export interface SampleTokens {
  readonly mask: Uint8Array;
  readonly advantage: Float32Array;
  readonly value?: Float32Array;
  /** The reward of the sample, which stands at its last token. Undefined if other terms may be in the rewards of tokens. */
  readonly reward?: number;
}

interface Sample {
  readonly mask: readonly number[];
  readonly advantages: readonly number[];
  readonly values: readonly number[];
  readonly kl: readonly number[];
  readonly reward: number | undefined;
}

/**
 * The tokens of one sample. The reward of a token is the reward of the sample at the last token less a KL term, whose
 * factor is not in the dump: with a KL term the rewards are unknown, and so they are if the last token is masked.
 */
export function sampleTokens({ mask, advantages, values, kl, reward }: Sample): SampleTokens {
  const isPlain = kl.every((x) => x === 0) && mask.at(-1) !== 0;
  return {
    mask: Uint8Array.from(mask, (m) => (m === 0 ? 0 : 1)),
    advantage: Float32Array.from(advantages),
    ...(values.length === mask.length ? { value: Float32Array.from(values) } : {}),
    ...(isPlain && reward !== undefined ? { reward } : {}),
  };
}

/** The tokens of all samples; undefined if some sample has none. A column that a sample lacks is omitted. */
export function tokenColumns(samples: readonly (SampleTokens | undefined)[]): TokenColumns | undefined {
  if (!samples.every((sample) => sample !== undefined)) return undefined;
  const offset = new Int32Array(samples.length + 1);
  samples.forEach(({ mask }, row) => {
    offset[row + 1] = offset[row]! + mask.length;
  });
  const count = offset.at(-1)!;
  const mask = new Uint8Array(count);
  const reportedAdvantage = new Float64Array(count);
  const value = samples.every((sample) => sample.value !== undefined) ? new Float64Array(count) : undefined;
  const reward = samples.every((sample) => sample.reward !== undefined) ? new Float64Array(count) : undefined;
  samples.forEach((sample, row) => {
    const at = offset[row]!;
    mask.set(sample.mask, at);
    reportedAdvantage.set(sample.advantage, at);
    value?.set(sample.value!, at);
    if (reward !== undefined && offset[row + 1]! > at) reward[offset[row + 1]! - 1] = sample.reward!;
  });
  return { offset, mask, reportedAdvantage, ...present({ value, reward }) };
}
