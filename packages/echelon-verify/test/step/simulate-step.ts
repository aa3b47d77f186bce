/**
 * A small trainer: computes the gradient coefficients of an optimizer step in float32, in its own loop, with a choice of faults. The
 * batch states the right arithmetic, whatever was computed.
 */

const { fround } = Math;

import type { StepBatch } from '../../src/format/step-batch.ts';
import type { StepSettings } from '../../src/format/step-settings.ts';

/** Data of the step, before the loss. */
export interface Rollouts {
  readonly offset: Int32Array;
  readonly microBatch: Int32Array;
  readonly mask: Uint8Array;
  readonly kept: Uint8Array;
  readonly logProb: Float32Array;
  readonly old: Float32Array;
  readonly rollout: Float32Array;
  readonly reference: Float32Array;
  readonly advantage: Float32Array;
}

export const RANKS = 2;
export const PER_RANK = 3;
const ROWS_OF = [2, 3, 2, 4, 1, 3];

/** Numbers between 0 and 1, the same for a seed. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Rows of unequal length in micro-batches of unequal size, with untrained and rejected tokens. */
export function rollouts(seed = 7, longest = 14): Rollouts {
  const next = random(seed);
  const normal = () => Math.sqrt(-2 * Math.log(next() + 1e-12)) * Math.cos(2 * Math.PI * next());
  const rows = ROWS_OF.reduce((sum, count) => sum + count, 0);
  const offset = new Int32Array(rows + 1);
  for (let row = 0; row < rows; row++) offset[row + 1] = offset[row]! + 3 + Math.floor(next() * longest);
  const tokens = offset[rows]!;
  const column = (make: (at: number) => number) => Float32Array.from({ length: tokens }, (_, at) => make(at));
  const old = column(() => -0.02 - 2.5 * Math.sqrt(next()));
  const mask = Uint8Array.from({ length: tokens }, () => (next() < 0.12 ? 0 : 1));
  return {
    offset,
    microBatch: Int32Array.from(ROWS_OF.flatMap((count, at) => Array(count).fill(at) as number[])),
    mask,
    kept: mask.map((flag) => (flag === 1 && next() < 0.1 ? 0 : flag)),
    old,
    logProb: column((at) => Math.min(-0.001, old[at]! + 0.35 * normal() + (next() < 0.08 ? 1.3 : 0))),
    rollout: column((at) => Math.min(-0.001, old[at]! + 0.3 * normal())),
    reference: column((at) => Math.min(-0.001, old[at]! + 0.5 * normal())),
    advantage: Float32Array.from({ length: rows }, normal),
  };
}

/** What the trainer computes. The defaults are the stated arithmetic. */
export interface Arithmetic {
  readonly clipLow: number;
  readonly clipHigh: number;
  readonly dualClip: number;
  /** Log-ratio of a token. */
  readonly logRatio: (from: Rollouts, token: number, row: number) => number;
  /** Policy gradient of a token from advantage and ratio; undefined: PPO clip. */
  readonly policy: ((advantage: number, ratio: number, from: Rollouts, token: number) => number) | undefined;
  readonly weight: (from: Rollouts, token: number, row: number) => number;
  /** Derivative of the KL term by the log-prob, with its coefficient. */
  readonly kl: (from: Rollouts, token: number, ratio: number) => number;
  readonly divisor: (from: Rollouts, row: number) => number;
  readonly klDivisor: ((from: Rollouts, row: number) => number) | undefined;
  readonly scale: number;
  readonly trained: (from: Rollouts, token: number) => boolean;
}

/** Number of tokens for which a flag holds in the rows of a micro-batch, or in all. */
export function count(from: Rollouts, flags: Uint8Array, microBatches: (at: number) => boolean): number {
  let sum = 0;
  for (let row = 0; row < from.microBatch.length; row++)
    if (microBatches(from.microBatch[row]!))
      for (let t = from.offset[row]!; t < from.offset[row + 1]!; t++) sum += flags[t]!;
  return sum;
}

const DEFAULTS: Arithmetic = {
  clipLow: 0.2,
  clipHigh: 0.28,
  dualClip: 3,
  logRatio: ({ logProb, old }, token) => fround(logProb[token]! - old[token]!),
  policy: undefined,
  weight: () => 1,
  kl: () => 0,
  divisor: (from) => count(from, from.mask, () => true),
  klDivisor: undefined,
  scale: RANKS,
  trained: ({ mask }, token) => mask[token] === 1,
};

/** The gradient coefficients that the arithmetic gives. */
export function gradients(from: Rollouts, faults: Partial<Arithmetic> = {}): Float32Array {
  const a = { ...DEFAULTS, ...faults };
  const gradient = new Float32Array(from.mask.length);
  for (let row = 0; row < from.microBatch.length; row++) {
    const advantage = from.advantage[row]!;
    for (let t = from.offset[row]!; t < from.offset[row + 1]!; t++) {
      if (!a.trained(from, t)) continue;
      const ratio = fround(Math.exp(a.logRatio(from, t, row)));
      const policy = a.policy ? a.policy(advantage, ratio, from, t) : clipped(advantage, ratio, a);
      const weighted = fround((fround(policy * a.weight(from, t, row)) / a.divisor(from, row)) * a.scale);
      const kl = fround((fround(a.kl(from, t, ratio)) / (a.klDivisor ?? a.divisor)(from, row)) * a.scale);
      gradient[t] = weighted + kl;
    }
  }
  return gradient;
}

/** The loss that the arithmetic reports for each micro-batch, as the sum over its tokens; NaN for a policy that has a gradient only. */
export function losses(from: Rollouts, faults: Partial<Arithmetic> = {}): number[] {
  const a = { ...DEFAULTS, ...faults };
  const sums = ROWS_OF.map(() => 0);
  for (let row = 0; row < from.microBatch.length; row++) {
    const advantage = from.advantage[row]!;
    for (let t = from.offset[row]!; t < from.offset[row + 1]!; t++) {
      if (!a.trained(from, t)) continue;
      const ratio = fround(Math.exp(a.logRatio(from, t, row)));
      const bound = advantage >= 0 ? Math.min(ratio, 1 + a.clipHigh) : Math.max(ratio, 1 - a.clipLow);
      const limited = advantage >= 0 ? bound : Math.min(bound, a.dualClip);
      const value = a.policy === undefined ? -advantage * limited : Number.NaN;
      sums[from.microBatch[row]!]! += (value * a.weight(from, t, row) * a.scale) / a.divisor(from, row);
    }
  }
  return sums;
}

/** The denominator that the arithmetic has in each micro-batch. */
export function divisors(from: Rollouts, { divisor = DEFAULTS.divisor }: Partial<Arithmetic>): number[] {
  return ROWS_OF.map((_, at) => divisor(from, from.microBatch.indexOf(at)));
}

function clipped(advantage: number, ratio: number, { clipLow, clipHigh, dualClip }: Arithmetic): number {
  if (advantage >= 0) return ratio > 1 + clipHigh ? 0 : fround(-advantage * ratio);
  return ratio < 1 - clipLow || ratio > dualClip ? 0 : fround(-advantage * ratio);
}

/** What a user states of the run. */
export function statedSettings(changes: Partial<StepSettings> = {}): StepSettings {
  return {
    optimizerStep: 12,
    policyLoss: { name: 'ppo-clip', params: { clipLow: 0.2, clipHigh: 0.28, dualClip: 3 } },
    aggregation: { mode: 'token-mean', scope: 'global', counts: 'mask', rowCount: 'all' },
    dataParallelSize: RANKS,
    microBatches: ROWS_OF.map((_, at) => ({
      rank: Math.floor(at / PER_RANK),
      index: at % PER_RANK,
      pass: 0,
      gradientScale: RANKS,
    })),
    reported: {},
    ...changes,
  };
}

/** The step with the gradients of an arithmetic. */
export function simulated({
  from = rollouts(),
  faults = {},
  settings = {},
  tokens = {},
}: {
  from?: Rollouts;
  faults?: Partial<Arithmetic>;
  settings?: Partial<StepSettings>;
  tokens?: Partial<StepBatch['tokens']>;
} = {}): StepBatch {
  const { offset, microBatch, mask, logProb, old: oldLogProb, advantage } = from;
  return {
    name: 'update 12',
    step: statedSettings(settings),
    rows: microBatch.length,
    microBatch,
    reportedAdvantage: advantage,
    tokens: { offset, mask, logProb, oldLogProb, lossGradient: gradients(from, faults), ...tokens },
  };
}
