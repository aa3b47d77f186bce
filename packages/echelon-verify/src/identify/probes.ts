/** Small groups on which formulas with one name differ: one row, near-equal rewards, a missing reward and so on. */

import { significant } from 'command-kit/number';
import { type Batch, type BatchEstimator, batchFingerprint, type TokenColumns } from '../format/batch.ts';
import { BatchFormatError } from '../format/format-error.ts';
import type { RewardColumn } from '../kernel/stages/chain.ts';
import { estimate } from './estimate.ts';

/** Rewards in words, with the row whose value is shown. */
export interface Probe {
  readonly name: string;
  readonly group: readonly number[];
  readonly score: readonly number[];
  readonly tokens: readonly number[];
}

const probe = (name: string, score: readonly number[], changes: Partial<Probe> = {}): Probe => ({
  name,
  score,
  group: score.map(() => 0),
  tokens: score.map(() => 1),
  ...changes,
});

/** The probes, in the order in which they are tried. */
export const PROBES: readonly Probe[] = [
  probe('rewards 1, 0, 0, 0', [1, 0, 0, 0]),
  probe('a group of one row with reward 0.7', [0.7]),
  probe('rewards 0.5 and 0.5002', [0.5, 0.5002]),
  probe('a reward that is missing', [1, 0, 0, Number.NaN]),
  probe('two groups of different spread', [1, 0, 10, 0], { group: [0, 0, 1, 1] }),
  probe('two groups of different mean', [3, 1, 0, 0], { group: [0, 0, 1, 1] }),
  probe('responses of 1, 2, 3 and 4 tokens', [1, 0, 0, 0], { tokens: [1, 2, 3, 4] }),
  probe('rewards 100, 0, 0, 0', [100, 0, 0, 0]),
  probe('negative rewards -1, -3', [-1, -3]),
  probe('rewards that differ by 1e-7', [0.5, 0.5000001]),
];

/** A probe as a batch of an estimator. */
export function probeBatch({ name, group, score, tokens }: Probe, estimator: BatchEstimator): Batch {
  const rows = score.length;
  const ids = Int32Array.from({ length: rows }, (_, row) => row);
  const value = Float64Array.from(score);
  const reward: RewardColumn = { name: 'reward', weight: 1, value };
  return {
    name,
    rows,
    estimator,
    group: Int32Array.from(group),
    groupNames: [...new Set(group)].map(String),
    trajectory: ids,
    trajectoryNames: Array.from(ids, String),
    observationLabel: String,
    observation: ids,
    tokenLevelRewardSum: value,
    rewards: [reward],
    responseLength: Int32Array.from(tokens),
    tokens: probeTokens(score, tokens),
    reportedStepReward: value,
  };
}

/** Responses of these lengths with the score at the last token, and a value of 0.5 at each. */
function probeTokens(score: readonly number[], lengths: readonly number[]): TokenColumns {
  const offset = new Int32Array(lengths.length + 1);
  lengths.forEach((length, row) => {
    offset[row + 1] = offset[row]! + length;
  });
  const count = offset.at(-1)!;
  const reward = new Float64Array(count);
  score.forEach((x, row) => {
    reward[offset[row + 1]! - 1] = x;
  });
  const mask = new Uint8Array(count).fill(1);
  return { offset, mask, reward, value: new Float64Array(count).fill(0.5) };
}

/** What an estimator gives a probe; undefined if it cannot be computed from one reward and no history. */
export function probeValues(one: Probe, estimator: BatchEstimator): Float64Array | undefined {
  try {
    return estimate(probeBatch(one, estimator)).advantage;
  } catch (error) {
    if (error instanceof BatchFormatError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Where two estimators part: the probe, its row and both values. Undefined probe: on none of the probes. */
export interface Difference {
  readonly fingerprint: string;
  readonly probe?: string;
  readonly row?: number;
  readonly first?: number;
  readonly value?: number;
}

/** Values that differ by less, relatively, are no help: float32 and its forms may blur them. */
const CLEAR = 1e-3;

/** The first probe on which two estimators clearly differ. */
export function tellApart(first: BatchEstimator, other: BatchEstimator): Difference {
  const fingerprint = batchFingerprint(other);
  for (const one of PROBES) {
    const [a, b] = [probeValues(one, first), probeValues(one, other)];
    if (a === undefined || b === undefined) continue;
    const row = a.findIndex((x, i) => !isNear(x, b[i]!));
    if (row !== -1) return { fingerprint, probe: one.name, row, first: a[row]!, value: b[row]! };
  }
  return { fingerprint };
}

function isNear(a: number, b: number): boolean {
  return Object.is(a, b) || Math.abs(a - b) <= CLEAR * Math.max(Math.abs(a), Math.abs(b), CLEAR);
}

/** The value of a row as people read it: at most five digits. */
export function shortValue(x: number): string {
  return significant(x, 5);
}

/** What an estimator gives each probe, for tables and terminals; no entry for a probe that it cannot be computed from. */
export function probeTable(estimator: BatchEstimator): { readonly probe: string; readonly values: string }[] {
  return PROBES.flatMap((one) => {
    const values = probeValues(one, estimator);
    return values === undefined
      ? []
      : [{ probe: one.name, values: Array.from(values, shortValue).join(', ') }];
  });
}
