/**
 * Formulas as chains of stages: subtract a mean, divide by a deviation, clip. Each stage maps one column of a batch to
 * the next. The estimators of most trainers are such chains; packages/echelon-verify/src/bounds/stage-bounds.ts bounds each stage.
 */

import { type Accumulate, accumulate, type TokenSequences } from './accumulate.ts';
import type { GroupSingleton } from './group-sums.ts';
import { type Deviation, divisor, type EpsilonPlace, type Spread } from './spread.ts';
import { checkLength, idCount } from './steps.ts';

/** The rows that a mean or a deviation runs over, and whether a row counts once or once per response token. */
export interface RowSet {
  readonly over: 'group' | 'batch';
  readonly weight: 'row' | 'token';
}

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
  score(): Float64Array;
  tokens(): Int32Array;
  rewards(): readonly RewardColumn[];
  /** The chain runs over tokens, one entry of each column per token. Only tokens of the mask count. */
  readonly sequences?: TokenSequences;
}

/** Rows of a group that stages with `others` accept: their work grows with the square of it. */
export const MAX_OTHERS = 8192;

/** Evaluates a chain in float64: one value per row. Throws a RangeError on unequal columns and too large groups. */
export function runStages(plan: StagePlan, input: StageInput): Float64Array {
  const { perReward, stages } = plan;
  if (perReward === undefined) return runChain(stages, plan, input, input.score());
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

interface Chain {
  readonly plan: Pick<StagePlan, 'singleton'>;
  readonly input: StageInput;
  readonly scores: Float64Array;
  /** 0 for rows that no statistic counts. */
  readonly counted: Uint8Array;
  /** The sums of the latest set and column: two stages over the scores share them. */
  latest?: SummedSets;
}

function runChain(
  stages: readonly Stage[],
  plan: Pick<StagePlan, 'singleton' | 'missing'>,
  input: StageInput,
  given: Float64Array,
): Float64Array {
  checkLength('score', given, input.group.length);
  const { scores, counted } = applyMissing(plan.missing, given, input.sequences?.mask);
  const chain: Chain = { plan, input, scores, counted };
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

/** The set of each row, -1 for rows that are not counted, and the number of sets. */
export function setIds(
  { over }: RowSet,
  { group }: Pick<StageInput, 'group'>,
  counted: Uint8Array,
): { ids: Int32Array; sets: number } {
  const sets = over === 'batch' ? 1 : idCount('group', group);
  const isWhole = !counted.includes(0);
  if (isWhole && over === 'group') return { ids: group, sets };
  const ids = over === 'batch' ? new Int32Array(group.length) : group.slice();
  if (isWhole) return { ids, sets };
  for (let row = 0; row < ids.length; row++) if (counted[row] === 0) ids[row] = -1;
  return { ids, sets };
}

/** Sums of the sets of a column. `weight` is the number of rows, or of tokens. */
export interface SetSums {
  readonly rows: Int32Array;
  readonly weight: Float64Array;
  readonly mean: Float64Array;
  readonly squares: Float64Array;
}

/** Two passes in float64. A set of equal values has exactly their mean and no squares. */
function setSums(ids: Int32Array, sets: number, x: Float64Array, tokens?: Int32Array): SetSums {
  const column = () => new Float64Array(sets);
  const sums = { rows: new Int32Array(sets), weight: column(), mean: column(), squares: column() };
  const { rows, weight, mean, squares } = sums;
  const first = column();
  const mixed = new Uint8Array(sets);
  for (let row = 0; row < ids.length; row++) {
    const set = ids[row]!;
    if (set < 0) continue;
    const w = tokens?.[row] ?? 1;
    if (rows[set]!++ === 0) first[set] = x[row]!;
    else if (x[row] !== first[set]) mixed[set] = 1;
    if (!Number.isFinite(x[row]!)) mixed[set] = 1;
    weight[set]! += w;
    mean[set]! += w === 0 ? 0 : w * x[row]!;
  }
  for (let set = 0; set < sets; set++) mean[set] = mixed[set] === 1 ? mean[set]! / weight[set]! : first[set]!;
  for (let row = 0; row < ids.length; row++) {
    const set = ids[row]!;
    if (set < 0 || mixed[set] === 0) continue;
    const w = tokens?.[row] ?? 1;
    const off = x[row]! - mean[set]!;
    squares[set]! += w === 0 ? 0 : w * off * off;
  }
  return sums;
}

interface SummedSets {
  readonly set: RowSet;
  readonly x: Float64Array;
  readonly ids: Int32Array;
  readonly sets: number;
  readonly sums: SetSums;
}

/** The sets of a stage with the sums of a column. */
function sumsOf(set: RowSet, chain: Chain, x: Float64Array): SummedSets {
  const { latest } = chain;
  if (latest?.x === x && latest.set.over === set.over && latest.set.weight === set.weight) return latest;
  const { ids, sets } = setIds(set, chain.input, chain.counted);
  chain.latest = { set, x, ids, sets, sums: setSums(ids, sets, x, tokensOf(set, chain.input)) };
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

/** The best of the other rows of each row's group: NaN if there is none. */
export function bestOfOthers(ids: Int32Array, sets: number, x: Float64Array): Float64Array {
  const best = new Float64Array(sets).fill(Number.NEGATIVE_INFINITY);
  const second = new Float64Array(sets).fill(Number.NEGATIVE_INFINITY);
  const times = new Int32Array(sets);
  for (let row = 0; row < ids.length; row++) {
    const set = ids[row]!;
    if (set < 0) continue;
    const value = x[row]!;
    if (value > best[set]!) {
      second[set] = best[set]!;
      best[set] = value;
      times[set] = 1;
    } else {
      if (value === best[set]) times[set]! += 1;
      second[set] = Math.max(second[set]!, value);
    }
  }
  return x.map((value, row) => {
    const set = ids[row]!;
    const other = set < 0 ? Number.NaN : value === best[set] && times[set] === 1 ? second[set]! : best[set]!;
    return Number.isFinite(other) ? other : Number.NaN;
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
  const squares = stage.others ? squaresOfOthers(ids, sums, of) : sums.squares;
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
function squaresOfOthers(ids: Int32Array, { rows }: SetSums, x: Float64Array): Float64Array {
  const squares = new Float64Array(x.length);
  forEachOthers(ids, rows, (row, others) => {
    const { squares: own } = setSums(
      new Int32Array(others.length),
      1,
      Float64Array.from(others, (other) => x[other]!),
    );
    squares[row] = own[0]!;
  });
  return squares;
}

/** Visits each counted row with the other rows of its set. Throws a RangeError above {@link MAX_OTHERS} rows a set. */
export function forEachOthers(
  ids: Int32Array,
  rows: Int32Array,
  visit: (row: number, others: readonly number[]) => void,
): void {
  const members = Array.from(rows, (): number[] => []);
  for (let row = 0; row < ids.length; row++) if (ids[row]! >= 0) members[ids[row]!]!.push(row);
  for (const set of members) {
    if (set.length > MAX_OTHERS)
      throw new RangeError(
        `a group has ${set.length} rows, ${MAX_OTHERS} are allowed for the deviation of the others`,
      );
    for (const row of set)
      visit(
        row,
        set.filter((other) => other !== row),
      );
  }
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

/** Rows over rows with a score other than 0. */
export function signalFactor(scores: Float64Array, counted: Uint8Array): number {
  let rows = 0;
  let signal = 0;
  for (let row = 0; row < scores.length; row++) {
    if (counted[row] === 0) continue;
    rows++;
    if (scores[row] !== 0) signal++;
  }
  return rows / Math.max(1, signal);
}
