/**
 * Formulas as chains of stages: subtract a mean, divide by a deviation, clip. Each stage maps one column of a batch to
 * the next. The estimators of most trainers are such chains; packages/echelon-verify/src/kernel/stages/stage-bounds.ts bounds each stage.
 */

import {
  bestOfOthers,
  forEachOthers,
  type GroupSingleton,
  type GroupStatistics,
  membersOf,
  type RowSet,
  type SetSums,
  setIds,
  setSums,
  signalFactor,
  standInsOf,
  trajectoryMeans,
} from '../sets/row-sets.ts';
import { type Deviation, divisor, type EpsilonPlace, type Spread } from '../sets/spread.ts';
import { checkLength, idCount } from '../sets/steps.ts';
import { type Accumulate, accumulate } from './accumulate.ts';
import { type SubtractTokenBaseline, subtractTokenBaseline } from './subtract-token-baseline.ts';
import type { TokenSequences } from './token-sequences.ts';

/** Division by the deviation of `of`: the scores that the chain starts with, or the current column. */
export interface DivideByDeviation {
  readonly do: 'divide-by-deviation';
  readonly set: RowSet;
  readonly of: 'scores' | 'current';
  /** Use the deviation of the other rows of the set. */
  readonly others: boolean;
  readonly deviation: Deviation;
  readonly epsilon: number;
  readonly epsilonPlace: EpsilonPlace;
  readonly guard?: Guard;
}

/** Divide only if the divisor (before ε) is above a threshold; otherwise keep the value, or give 0. */
export interface Guard {
  readonly above: number;
  readonly otherwise: 'keep' | 'zero';
}

/** One step of a chain. Group stages give a group of one row what the plan's `singleton` says. */
export type Stage =
  /** Of the tokens of each response, from the last to the first. */
  | Accumulate
  /** Subtract the reward of a greedy response to the same prompt. */
  | { readonly do: 'subtract-greedy-reward' }
  | SubtractTokenBaseline
  | { readonly do: 'subtract-mean'; readonly set: RowSet }
  /** Subtract the mean of the other rows of the group. */
  | { readonly do: 'subtract-others' }
  /** Subtract the moving average of the group's earlier scores, then update it: b ← decay · b + (1 − decay) · S. */
  | { readonly do: 'subtract-moving-average'; readonly decay: number; readonly start: number }
  /** The best row of a group gets the distance to the second best, the other rows get 0. */
  | { readonly do: 'best-less-second' }
  | DivideByDeviation
  /** Divide by the group's mean of the scores + ε; a group of one row is not divided by `raw`. */
  | { readonly do: 'divide-by-mean'; readonly epsilon: number; readonly guard?: Guard }
  /** Multiply by the rows of the batch over its rows with a score other than 0. */
  | { readonly do: 'multiply-by-signal-share' }
  | { readonly do: 'clip'; readonly limit: number };

/** As {@link GroupSingleton}; `nan` gives NaN, as torch does for the sample deviation of one value. */
export type AnySingleton = GroupSingleton | 'nan';

/**
 * A score of NaN: it makes its group NaN, counts as 0, or is excluded from every statistic and gives 0. By the last, an
 * advantage that is NaN for another reason becomes 0 too.
 */
export type MissingRule = 'propagate' | 'zero' | 'exclude';

/** A formula as a chain. */
export interface StagePlan {
  readonly stages: readonly Stage[];
  readonly singleton: AnySingleton;
  readonly missing: MissingRule;
  /** What means and deviations run over: as `GroupStatistics`. Default: `rows`. */
  readonly statistics?: GroupStatistics;
  /** Stages that each reward column passes on its own. The chain then starts with their weighted sum. */
  readonly perReward?: readonly Stage[];
}

/** The values of one reward function, NaN for a row that it did not score. */
export interface RewardColumn {
  readonly name: string;
  readonly weight: number;
  readonly value: Float64Array;
}

/** What a chain reads. `tokens` and `rewards` are called only if a stage needs them. */
export interface StageInput {
  readonly group: Int32Array;
  /** For statistics over trajectories. */
  readonly trajectory?: Int32Array | undefined;
  score(): Float64Array;
  tokens(): Int32Array;
  rewards(): readonly RewardColumn[];
  /** The chain runs over tokens, one entry of each column per token. Only tokens of the mask count. */
  readonly sequences?: TokenSequences;
}

/** Evaluates a chain in float64: one value per row. Throws a RangeError on unequal columns and too large groups. */
export function runStages(plan: StagePlan, input: StageInput): Float64Array {
  const { perReward, stages } = plan;
  const isMean = plan.statistics === 'trajectory-mean';
  const score = () => (isMean ? trajectoryMeans(input.score(), input.trajectory) : input.score());
  if (perReward === undefined) return runChain(stages, plan, input, score());
  const columns = input.rewards().map(({ weight, value }) => ({
    weight,
    value: runChain(perReward, { ...plan, missing: partMissing(plan) }, input, value),
  }));
  const sum = sumOfRewards(columns, input.group.length);
  if (plan.missing !== 'propagate') markUnscored(sum, input.rewards());
  return runChain(stages, plan, input, sum);
}

/** A reward that a function did not give enters no statistic of that function, in any trainer that allows it. */
export function partMissing({ missing }: StagePlan): MissingRule {
  return missing === 'propagate' ? 'propagate' : 'exclude';
}

function sumOfRewards(
  columns: readonly { readonly weight: number; readonly value: Float64Array }[],
  rows: number,
): Float64Array {
  const sum = new Float64Array(rows);
  for (const { weight, value } of columns)
    for (let row = 0; row < rows; row++) sum[row]! += weight * value[row]!;
  return sum;
}

/** A row that no function scored has no sum. */
export function markUnscored(sum: Float64Array, rewards: readonly RewardColumn[]): void {
  for (let row = 0; row < sum.length; row++) {
    if (rewards.every(({ value }) => Number.isNaN(value[row]!))) sum[row] = Number.NaN;
  }
}

/** The part of a plan that holds for all its stages. */
export type ChainRules = Pick<StagePlan, 'singleton' | 'missing' | 'statistics'>;

interface Chain {
  readonly plan: ChainRules;
  readonly input: StageInput;
  readonly scores: Float64Array;
  /** 0 for rows without a value: no statistic counts them, and they get 0. */
  readonly counted: Uint8Array;
  /** The row that counts in statistics for each row; undefined if each counts itself. */
  readonly standIn: Int32Array | undefined;
  /** The sums of the latest set and column: two stages over the scores share them. */
  latest?: SummedSets;
}

function runChain(
  stages: readonly Stage[],
  plan: ChainRules,
  input: StageInput,
  given: Float64Array,
): Float64Array {
  checkLength('score', given, input.group.length);
  const { scores, counted } = applyMissing(plan.missing, given, input.sequences?.mask);
  const chain: Chain = { plan, input, scores, counted, standIn: standInsOf(plan, input) };
  let current = scores;
  for (const stage of stages) current = runStage(stage, chain, current);
  const own = current === scores ? scores.slice() : current;
  if (plan.missing !== 'exclude') return own;
  for (let row = 0; row < own.length; row++) own[row] = counted[row] === 0 ? 0 : asNumber(own[row]!);
  return own;
}

/** NaN as 0 and infinities as the largest numbers of float32: torch's `nan_to_num`, by which trainers exclude rows. */
function asNumber(x: number): number {
  return Number.isNaN(x) ? 0 : Math.min(Math.max(x, -MAX_FLOAT32), MAX_FLOAT32);
}

const MAX_FLOAT32 = 2 ** 128 - 2 ** 104;

/** The scores by the rule for NaN, and the rows that statistics count: at most those of the mask. */
export function applyMissing(
  missing: MissingRule,
  given: Float64Array,
  mask?: Uint8Array,
): { scores: Float64Array; counted: Uint8Array } {
  const counted = mask?.slice() ?? new Uint8Array(given.length).fill(1);
  if (missing === 'propagate' || !hasNaN(given)) return { scores: given, counted };
  const scores = given.map((x) => (Number.isNaN(x) ? 0 : x));
  if (missing === 'exclude')
    for (let row = 0; row < given.length; row++) counted[row] = Number.isNaN(given[row]!) ? 0 : 1;
  return { scores, counted };
}

function hasNaN(column: Float64Array): boolean {
  for (let row = 0; row < column.length; row++) if (Number.isNaN(column[row]!)) return true;
  return false;
}

function runStage(stage: Stage, chain: Chain, x: Float64Array): Float64Array {
  switch (stage.do) {
    case 'accumulate':
      return accumulate(stage, sequencesOf(chain.input), x);
    case 'subtract-greedy-reward': {
      const baseline = sequencesOf(chain.input).column('rewardBaseline');
      return x.map((value, t) => (chain.counted[t] === 0 ? 0 : value - baseline[t]!));
    }
    case 'subtract-token-baseline':
      return subtractTokenBaseline(stage, sequencesOf(chain.input), x);
    case 'subtract-mean':
      return subtractMean(stage.set, chain, x);
    case 'subtract-others':
      return subtractOthers(chain, x);
    case 'subtract-moving-average':
      return subtractMovingAverage(stage, chain, x);
    case 'best-less-second':
      return bestLessSecond(chain, x);
    case 'divide-by-deviation':
      return divideByDeviation(stage, chain, x);
    case 'divide-by-mean':
      return divideByMean(stage, chain, x);
    case 'multiply-by-signal-share': {
      const factor = signalFactor(chain.scores, chain.counted);
      return x.map((value) => factor * value);
    }
    case 'clip':
      return x.map((value) => Math.min(Math.max(value, -stage.limit), stage.limit));
  }
}

/** The responses of a chain over tokens. Throws a TypeError for a chain over rows. */
export function sequencesOf<S>({ sequences }: { readonly sequences?: S }): S {
  if (sequences === undefined) throw new TypeError('the chain has a stage over tokens, but runs over rows');
  return sequences;
}

interface SummedSets {
  readonly set: RowSet;
  readonly x: Float64Array;
  readonly ids: Int32Array;
  /** As `ids`, -1 for rows that do not count. */
  readonly members: Int32Array;
  readonly sets: number;
  readonly sums: SetSums;
}

/** The sets of a stage with the sums of a column. */
function sumsOf(set: RowSet, chain: Chain, x: Float64Array): SummedSets {
  const { latest } = chain;
  if (latest?.x === x && latest.set.over === set.over && latest.set.weight === set.weight) return latest;
  const { ids, sets } = setIds(set, chain.input, chain.counted);
  const members = membersOf(ids, chain.standIn);
  const sums = setSums(members, sets, x, tokensOf(set, chain.input));
  chain.latest = { set, x, ids, members, sets, sums };
  return chain.latest;
}

function tokensOf({ weight }: RowSet, input: StageInput): Int32Array | undefined {
  return weight === 'token' ? input.tokens() : undefined;
}

function subtractMean(set: RowSet, chain: Chain, x: Float64Array): Float64Array {
  const { ids, sums } = sumsOf(set, chain, x);
  const { mean, rows } = sums;
  const isRaw = chain.plan.singleton === 'raw';
  const centred = new Float64Array(x.length);
  for (let row = 0; row < x.length; row++) {
    const at = ids[row]!;
    if (at < 0) continue;
    const value = x[row]!;
    const alone = set.over === 'group' && rows[at] === 1;
    centred[row] = alone ? (isRaw ? value : value - value) : value - mean[at]!;
  }
  return centred;
}

function subtractOthers(chain: Chain, x: Float64Array): Float64Array {
  const { ids, sums } = sumsOf({ over: 'group', weight: 'row' }, chain, x);
  const isRaw = chain.plan.singleton === 'raw';
  const off = new Float64Array(x.length);
  for (let row = 0; row < x.length; row++) {
    const at = ids[row]!;
    if (at < 0) continue;
    const value = x[row]!;
    const n = sums.rows[at]!;
    const alone = isRaw ? value : value - value;
    off[row] = n === 1 ? alone : (n / (n - 1)) * (value - sums.mean[at]!);
  }
  return off;
}

function subtractMovingAverage(
  { decay, start }: { readonly decay: number; readonly start: number },
  { input: { group }, counted }: Chain,
  x: Float64Array,
): Float64Array {
  const baseline = new Float64Array(idCount('group', group)).fill(start);
  return x.map((value, row) => {
    if (counted[row] === 0) return 0;
    const before = baseline[group[row]!]!;
    baseline[group[row]!] = decay * before + (1 - decay) * value;
    return value - before;
  });
}

function bestLessSecond({ input, counted }: Chain, x: Float64Array): Float64Array {
  const { ids, sets } = setIds({ over: 'group', weight: 'row' }, input, counted);
  const { rows } = setSums(ids, sets, x);
  const others = bestOfOthers(ids, sets, x);
  return x.map((value, row) => {
    if (ids[row]! < 0 || rows[ids[row]!] === 1) return 0;
    return Math.max(0, value - others[row]!);
  });
}

function divideByDeviation(stage: DivideByDeviation, chain: Chain, x: Float64Array): Float64Array {
  const { set, guard, others } = stage;
  const { ids, sums } = sumsOf(set, chain, stage.of === 'scores' ? chain.scores : x);
  const divisors = divisorsOf(stage, chain, x);
  const isNaNAlone = set.over === 'group' && chain.plan.singleton === 'nan';
  const quotients = new Float64Array(x.length);
  for (let row = 0; row < x.length; row++) {
    const own = ids[row]!;
    if (own < 0) continue;
    const at = others ? row : own;
    const value = x[row]!;
    if (isNaNAlone && sums.rows[own] === 1) quotients[row] = Number.NaN;
    else if (guard !== undefined && !(divisors.size[at]! > guard.above))
      quotients[row] = guard.otherwise === 'keep' ? value : 0 * value;
    else quotients[row] = value === 0 ? 0 : value / divisors.by[at]!;
  }
  return quotients;
}

/** What the rows are divided by, and the deviation without ε: one entry per set, or per row with `others`. */
interface Divisors {
  readonly size: Float64Array;
  readonly by: Float64Array;
}

function divisorsOf(stage: DivideByDeviation, chain: Chain, x: Float64Array): Divisors {
  const of = stage.of === 'scores' ? chain.scores : x;
  const { ids, sets, sums } = sumsOf(stage.set, chain, of);
  const squares = stage.others ? squaresOfOthers(chain, ids, of) : sums.squares;
  const count = stage.others ? ids.length : sets;
  const divisors = { size: new Float64Array(count), by: new Float64Array(count) };
  // One value has no sample deviation; its population deviation is 0.
  const ofOne = { ...stage, deviation: 'population' } as const;
  const [bare, bareOfOne] = [stage, ofOne].map(withoutEpsilon) as [Spread, Spread];
  for (let at = 0; at < count; at++) {
    const set = stage.others ? ids[at]! : at;
    const alone = stage.set.over === 'group' && sums.rows[set] === 1;
    const q = alone && chain.plan.singleton === 'raw' ? 1 : squares[at]!;
    const n = alone ? 1 : stage.others ? sums.rows[set]! - 1 : sums.weight[set]!;
    divisors.size[at] = divisor(n === 1 ? bareOfOne : bare, q, n);
    divisors.by[at] = divisor(n === 1 ? ofOne : stage, q, n);
  }
  return divisors;
}

function withoutEpsilon({ deviation }: Spread): Spread {
  return { deviation, epsilon: 0, epsilonPlace: 'added' };
}

/** For each row the sum of squares of the other rows of its set about their own mean. */
function squaresOfOthers({ standIn }: Chain, ids: Int32Array, x: Float64Array): Float64Array {
  const squares = new Float64Array(x.length);
  forEachOthers(ids, standIn, (row, others) => {
    const { squares: own } = setSums(
      new Int32Array(others.length),
      1,
      Float64Array.from(others, (other) => x[other]!),
    );
    squares[row] = own[0]!;
  });
  return squares;
}

function divideByMean(
  { epsilon, guard }: { readonly epsilon: number; readonly guard?: Guard },
  { plan, input, counted, scores }: Chain,
  x: Float64Array,
): Float64Array {
  const { ids, sets } = setIds({ over: 'group', weight: 'row' }, input, counted);
  const { mean, rows } = setSums(ids, sets, scores);
  return x.map((value, row) => {
    const at = ids[row]!;
    if (at < 0) return 0;
    if (rows[at] === 1 && plan.singleton === 'raw') return value;
    if (guard !== undefined && !(mean[at]! > guard.above))
      return guard.otherwise === 'keep' ? value : 0 * value;
    return value === 0 ? 0 : value / (mean[at]! + epsilon);
  });
}
