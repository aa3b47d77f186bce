/**
 * What a chain of stages can give in the trainer's arithmetic: one interval per row and stage, for every order of
 * summation and every form that libraries use. The derivation is in docs/explanation/verification.md, "Chains of stages".
 */

import type { TokenSequences } from '../../kernel/accumulate.ts';
import {
  applyMissing,
  bestOfOthers,
  type DivideByDeviation,
  forEachOthers,
  type Guard,
  markUnscored,
  partMissing,
  type RewardColumn,
  type RowSet,
  type Stage,
  type StagePlan,
  sequencesOf,
  setIds,
  signalFactor,
} from '../../kernel/stages.ts';
import { idCount } from '../../kernel/steps.ts';
import type { Forms } from '../format/batch.ts';
import { boundAccumulate } from './accumulate-bounds.ts';
import type { Arithmetic } from './arithmetic.ts';
import type { InputColumn } from './inputs.ts';
import { type Interval, type SetBounds, tokenSets, valueSets } from './set-bounds.ts';

/** A column as the trainer may hold it: the float64 value of each row, and the interval of the trainer's number. */
export interface IntervalColumn {
  readonly value: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
}

/** One stage of a chain with the column that it gives. */
export interface BoundedStage {
  readonly stage: Stage;
  readonly column: IntervalColumn;
}

/** The last column of a chain, and the columns on the way. */
export interface StageBounds {
  readonly column: IntervalColumn;
  readonly trace: readonly BoundedStage[];
  /** 1 for rows of which nothing can be said: a sum may leave the range, or a divisor may be 0. */
  readonly overflow: Uint8Array;
}

/** What the bounds read. `tokens` and `rewards` are called only if a stage needs them. */
export interface StageBoundsInput {
  readonly group: Int32Array;
  score(): InputColumn;
  tokens(): Int32Array;
  rewards(): readonly { readonly weight: number; readonly column: InputColumn }[];
  readonly sequences?: TokenSequences<InputColumn>;
  /** Of sums over tokens; the other stages admit any form. */
  readonly forms?: Forms;
}

/** Bounds every stage of a chain. Linear in the rows, but for stages with `others`. */
export function boundStages(plan: StagePlan, input: StageBoundsInput, arithmetic: Arithmetic): StageBounds {
  const { perReward, stages } = plan;
  if (perReward === undefined) return boundChain(stages, plan, { input, arithmetic }, startOf(input.score()));
  const rewards = input.rewards();
  const parts = rewards.map(({ column }) =>
    boundChain(perReward, { ...plan, missing: partMissing(plan) }, { input, arithmetic }, startOf(column)),
  );
  const sum = weightedSum(
    parts.map(({ column }, k) => ({ column, weight: rewards[k]!.weight })),
    input.group.length,
    arithmetic,
  );
  if (plan.missing !== 'propagate') markUnscored(sum.value, rewards.map(asReward));
  const whole = boundChain(stages, plan, { input, arithmetic }, sum);
  for (const { overflow } of parts) {
    for (let row = 0; row < overflow.length; row++) if (overflow[row] === 1) whole.overflow[row] = 1;
  }
  return whole;
}

function asReward({
  weight,
  column,
}: {
  readonly weight: number;
  readonly column: InputColumn;
}): RewardColumn {
  return { name: '', weight, value: column.value };
}

/** The numbers as stated, and how far the trainer's may be: rounded to its format, or known only in part. */
function startOf({ value, stated, error, rounding }: InputColumn): IntervalColumn {
  const centre = stated ?? value;
  const off = (row: number): number => (error?.[row] ?? 0) + (rounding?.[row] ?? 0);
  return {
    value: centre,
    low: centre.map((x, row) => x - off(row)),
    high: centre.map((x, row) => x + off(row)),
  };
}

interface Context {
  readonly input: StageBoundsInput;
  readonly arithmetic: Arithmetic;
}

interface Chain extends Context {
  readonly plan: Pick<StagePlan, 'singleton' | 'missing'>;
  readonly scores: IntervalColumn;
  readonly counted: Uint8Array;
  readonly overflow: Uint8Array;
}

function boundChain(
  stages: readonly Stage[],
  plan: Pick<StagePlan, 'singleton' | 'missing'>,
  context: Context,
  given: IntervalColumn,
): StageBounds {
  const { scores: value, counted } = applyMissing(plan.missing, given.value, context.input.sequences?.mask);
  const ends = (end: Float64Array) =>
    end.map((x, row) => (Number.isNaN(given.value[row]!) ? value[row]! : x));
  const scores: IntervalColumn = { value, low: ends(given.low), high: ends(given.high) };
  const overflow = new Uint8Array(value.length);
  const chain: Chain = { ...context, plan, scores, counted, overflow };
  const trace: BoundedStage[] = [];
  let column = scores;
  for (const stage of stages) {
    column = boundStage(stage, chain, column);
    trace.push({ stage, column });
  }
  for (let row = 0; row < overflow.length; row++) {
    const size = Math.max(Math.abs(column.low[row]!), Math.abs(column.high[row]!));
    if (size >= context.arithmetic.overflow) overflow[row] = 1;
  }
  return { column, trace, overflow };
}

function boundStage(stage: Stage, chain: Chain, x: IntervalColumn): IntervalColumn {
  switch (stage.do) {
    case 'accumulate': {
      const { arithmetic, overflow } = chain;
      const { forms = 'any' } = chain.input;
      const { value, ...tokens } = sequencesOf(chain.input);
      const sequences = { ...tokens, value: () => startOf(value()) };
      return boundAccumulate(stage, { sequences, reward: x, arithmetic, forms, overflow });
    }
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
      const factor = signalFactor(chain.scores.value, chain.counted);
      return mapRows(x, chain, (row, out) => {
        const ends = [factor * x.low[row]!, factor * x.high[row]!] as const;
        set(out, factor * x.value[row]!, widen(ends[0], ends[1], 3.01, chain.arithmetic));
      });
    }
    case 'clip':
      return mapRows(x, chain, (row, out) => {
        const clip = (v: number): number => Math.min(Math.max(v, -stage.limit), stage.limit);
        const low = clip(x.low[row]!);
        const high = clip(x.high[row]!);
        set(out, clip(x.value[row]!), widen(low, high, 1, chain.arithmetic));
      });
  }
}

/** What a stage gives one row; counted rows only, the others are 0. */
interface Cell {
  value: number;
  low: number;
  high: number;
}

function mapRows(
  x: IntervalColumn,
  { counted }: Chain,
  fill: (row: number, out: Cell) => void,
): IntervalColumn {
  const rows = x.value.length;
  const column = { value: new Float64Array(rows), low: new Float64Array(rows), high: new Float64Array(rows) };
  const cell: Cell = { value: 0, low: 0, high: 0 };
  for (let row = 0; row < rows; row++) {
    if (counted[row] === 0) continue;
    fill(row, cell);
    column.value[row] = cell.value;
    column.low[row] = cell.low;
    column.high[row] = cell.high;
  }
  return column;
}

function set(out: Cell, value: number, [low, high]: Interval): void {
  out.value = value;
  out.low = Math.min(low, value);
  out.high = Math.max(high, value);
}

function keep(out: Cell, x: IntervalColumn, row: number): void {
  set(out, x.value[row]!, [x.low[row]!, x.high[row]!]);
}

/**
 * `times` roundings of the trainer, and those of the float64 evaluation here. An exact 0 stays 0. Rounded numbers are
 * rounded again: (1 + u)^k - 1 <= k u (1 + k u) as long as k u is below 1.
 */
function widen(low: number, high: number, times: number, { unit, tiny }: Arithmetic): Interval {
  if (low === 0 && high === 0) return [0, 0];
  const relative = times * unit * (1.001 + times * unit);
  const off = (relative + 2 ** -50) * Math.max(Math.abs(low), Math.abs(high)) + tiny;
  return [low - off, high + off];
}

const GROUP: RowSet = { over: 'group', weight: 'row' };

/** The sets of a stage and their bounds. Rows of sets that may overflow are marked. */
function boundsOf(
  rowSet: RowSet,
  deviation: 'population' | 'sample',
  { input, counted, arithmetic, overflow }: Chain,
  x: IntervalColumn,
): { ids: Int32Array; bounds: SetBounds } {
  const { ids, sets } = setIds(rowSet, input, counted);
  const column = { ids, sets, value: x.value, radius: radiusOf(x) };
  const bounds =
    rowSet.weight === 'token'
      ? tokenSets({ ...column, tokens: input.tokens() }, deviation, arithmetic)
      : valueSets(column, deviation, arithmetic);
  for (let row = 0; row < ids.length; row++) {
    if (ids[row]! >= 0 && bounds.overflow[ids[row]!] === 1) overflow[row] = 1;
  }
  return { ids, bounds };
}

function radiusOf({ value, low, high }: IntervalColumn): Float64Array {
  return value.map((x, row) => Math.max(x - low[row]!, high[row]! - x));
}

function subtractMean(rowSet: RowSet, chain: Chain, x: IntervalColumn): IntervalColumn {
  const { ids, bounds } = boundsOf(rowSet, 'population', chain, x);
  return mapRows(x, chain, (row, out) => {
    const at = ids[row]!;
    if (rowSet.over === 'group' && bounds.rows[at] === 1) {
      if (chain.plan.singleton === 'raw') keep(out, x, row);
      else set(out, x.value[row]! - x.value[row]!, [0, 0]);
      return;
    }
    const mean = bounds.mean[at]!;
    const error = bounds.meanError[at]!;
    const ends = widen(x.low[row]! - mean - error, x.high[row]! - mean + error, 1, chain.arithmetic);
    // The difference of two close numbers: the float64 evaluation here rounds both.
    const own = 2 ** -51 * Math.abs(mean);
    set(out, x.value[row]! - mean, [ends[0] - own, ends[1] + own]);
  });
}

/** In every form of the leave-one-out difference; see `boundAnyLeaveOneOut` in level-value.ts. */
function subtractOthers(chain: Chain, x: IntervalColumn): IntervalColumn {
  const { ids, bounds } = boundsOf(GROUP, 'population', chain, x);
  const { unit } = chain.arithmetic;
  return mapRows(x, chain, (row, out) => {
    const at = ids[row]!;
    const n = bounds.rows[at]!;
    const value = x.value[row]!;
    if (n === 1) {
      if (chain.plan.singleton === 'raw') keep(out, x, row);
      else set(out, value - value, [0, 0]);
      return;
    }
    const scale = n / (n - 1);
    const mean = bounds.mean[at]!;
    const error = bounds.meanError[at]!;
    const own = Math.max(x.high[row]! - value, value - x.low[row]!);
    const off = scale * (value - mean);
    const terms = scale * (Math.abs(value) + Math.abs(mean) + error + own);
    const blur = scale * (error + own) + (6.06 * unit + 2 ** -50) * terms + unit * Math.abs(off);
    set(out, off, [off - blur, off + blur]);
  });
}

/** b ← d·b + (1 − d)·x or b + (1 − d)(x − b): six roundings of terms of at most |b| + |x|, the rounded d included. */
function subtractMovingAverage(
  { decay, start }: { readonly decay: number; readonly start: number },
  chain: Chain,
  x: IntervalColumn,
): IntervalColumn {
  const { unit, tiny } = chain.arithmetic;
  const { group } = chain.input;
  const groups = idCount('group', group);
  const baseline = new Float64Array(groups).fill(start);
  const error = new Float64Array(groups).fill(unit * Math.abs(start));
  return mapRows(x, chain, (row, out) => {
    const g = group[row]!;
    const [value, b, off] = [x.value[row]!, baseline[g]!, error[g]!];
    set(out, value - b, widen(x.low[row]! - b - off, x.high[row]! - b + off, 1, chain.arithmetic));
    const own = Math.max(x.high[row]! - value, value - x.low[row]!);
    baseline[g] = decay * b + (1 - decay) * value;
    error[g] =
      decay * off + (1 - decay) * own + 6.06 * unit * (Math.abs(b) + Math.abs(value) + off + own) + tiny;
  });
}

function bestLessSecond(chain: Chain, x: IntervalColumn): IntervalColumn {
  const { ids, sets } = setIds(GROUP, chain.input, chain.counted);
  const best = bestOfOthers(ids, sets, x.value);
  const low = bestOfOthers(ids, sets, x.low);
  const high = bestOfOthers(ids, sets, x.high);
  return mapRows(x, chain, (row, out) => {
    if (Number.isNaN(best[row]!)) {
      set(out, 0, [0, 0]);
      return;
    }
    const least = Math.max(0, x.low[row]! - high[row]!);
    const most = Math.max(0, x.high[row]! - low[row]!);
    set(out, Math.max(0, x.value[row]! - best[row]!), widen(least, most, 1, chain.arithmetic));
  });
}

/** The true divisor of a row and the interval of the trainer's, before ε. */
interface Divisor {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

function divideByDeviation(stage: DivideByDeviation, chain: Chain, x: IntervalColumn): IntervalColumn {
  const of = stage.of === 'scores' ? chain.scores : x;
  const { ids, bounds } = boundsOf(stage.set, stage.deviation, chain, of);
  const others = stage.others ? deviationsOfOthers(stage, chain, ids, of, bounds) : undefined;
  const withEpsilon = (sigma: number): number => epsilonAdded(sigma, stage);
  return mapRows(x, chain, (row, out) => {
    const at = ids[row]!;
    const alone = stage.set.over === 'group' && bounds.rows[at] === 1;
    if (alone && chain.plan.singleton === 'nan') {
      set(out, Number.NaN, [Number.NaN, Number.NaN]);
      return;
    }
    const one = alone && chain.plan.singleton === 'raw' ? 1 : 0;
    const sigma: Divisor = alone
      ? { value: one, low: one, high: one }
      : (others?.[row] ?? {
          value: bounds.deviation[at]!,
          low: bounds.deviationLow[at]!,
          high: bounds.deviationHigh[at]!,
        });
    divide(out, { chain, x, row, sigma, withEpsilon, ...(stage.guard && { guard: stage.guard }) });
  });
}

function epsilonAdded(sigma: number, { epsilon, epsilonPlace }: DivideByDeviation): number {
  switch (epsilonPlace) {
    case 'added':
      return sigma + epsilon;
    case 'floor':
      return Math.max(sigma, epsilon);
    case 'variance-added':
      return Math.sqrt(sigma * sigma + epsilon);
    case 'variance-floor':
      return Math.sqrt(Math.max(sigma * sigma, epsilon));
  }
}

function deviationsOfOthers(
  { deviation }: DivideByDeviation,
  { arithmetic }: Chain,
  ids: Int32Array,
  of: IntervalColumn,
  { rows }: SetBounds,
): Divisor[] {
  const radius = radiusOf(of);
  const divisors = new Array<Divisor>(ids.length);
  forEachOthers(ids, rows, (row, others) => {
    // The deviation of one value is 0 in every form: x² − x² has no rounding of its own.
    if (others.length < 2) {
      divisors[row] = { value: 0, low: 0, high: 0 };
      return;
    }
    const column = {
      ids: new Int32Array(others.length),
      sets: 1,
      value: Float64Array.from(others, (other) => of.value[other]!),
      radius: Float64Array.from(others, (other) => radius[other]!),
    };
    const {
      deviation: value,
      deviationLow: low,
      deviationHigh: high,
    } = valueSets(column, deviation, arithmetic);
    divisors[row] = { value: value[0]!, low: low[0]!, high: high[0]! };
  });
  return divisors;
}

function divideByMean(
  { epsilon, guard }: { readonly epsilon: number; readonly guard?: Guard },
  chain: Chain,
  x: IntervalColumn,
): IntervalColumn {
  const { ids, bounds } = boundsOf(GROUP, 'population', chain, chain.scores);
  const withEpsilon = (mean: number): number => mean + epsilon;
  return mapRows(x, chain, (row, out) => {
    const at = ids[row]!;
    if (bounds.rows[at] === 1 && chain.plan.singleton === 'raw') {
      keep(out, x, row);
      return;
    }
    const mean = bounds.mean[at]!;
    const error = bounds.meanError[at]!;
    const sigma = { value: mean, low: mean - error, high: mean + error };
    divide(out, { chain, x, row, sigma, withEpsilon, ...(guard && { guard }) });
  });
}

interface Division {
  readonly chain: Chain;
  readonly x: IntervalColumn;
  readonly row: number;
  readonly sigma: Divisor;
  readonly withEpsilon: (sigma: number) => number;
  readonly guard?: Guard;
}

/** ε, the sum, the root or reciprocal root, the product: 8 u in any form, against the size of the quotient. */
const DIVISION_ROUNDINGS = 8.1;

/** A quotient under a guard: what the guard may give and what the division may give, together. */
function divide(out: Cell, { chain, x, row, sigma, withEpsilon, guard }: Division): void {
  const value = x.value[row]!;
  const kept = guard?.otherwise === 'keep' ? 1 : 0;
  const ends: number[] = [];
  if (guard !== undefined && sigma.low <= guard.above) ends.push(kept * x.low[row]!, kept * x.high[row]!);
  if (guard === undefined || sigma.high > guard.above)
    ends.push(...quotients(chain, x, row, sigma, withEpsilon));
  const guarded = guard !== undefined && !(sigma.value > guard.above);
  const quotient = value === 0 ? 0 : value / withEpsilon(sigma.value);
  set(out, guarded ? kept * value : quotient, [Math.min(...ends), Math.max(...ends)]);
}

function quotients(
  { arithmetic, overflow }: Chain,
  x: IntervalColumn,
  row: number,
  sigma: Divisor,
  withEpsilon: (sigma: number) => number,
): Interval {
  const [low, high] = [x.low[row]!, x.high[row]!];
  if (low === 0 && high === 0) return [0, 0];
  const least = withEpsilon(sigma.low);
  const most = withEpsilon(sigma.high);
  // A divisor that may be 0 says nothing of the quotient.
  if (!(least * most > 0)) {
    overflow[row] = 1;
    return [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  }
  const ends = [low / least, low / most, high / least, high / most];
  return widen(Math.min(...ends), Math.max(...ends), DIVISION_ROUNDINGS, arithmetic);
}

/** A weighted sum of k columns: k + 2 roundings of the sum of the terms' sizes, which are rounded themselves. */
function weightedSum(
  columns: readonly { readonly column: IntervalColumn; readonly weight: number }[],
  rows: number,
  { unit }: Arithmetic,
): IntervalColumn {
  const sum = { value: new Float64Array(rows), low: new Float64Array(rows), high: new Float64Array(rows) };
  for (let row = 0; row < rows; row++) {
    let size = 0;
    for (const { column, weight } of columns) {
      const [a, b] = [weight * column.low[row]!, weight * column.high[row]!];
      sum.value[row]! += weight * column.value[row]!;
      sum.low[row]! += Math.min(a, b);
      sum.high[row]! += Math.max(a, b);
      size += Math.max(Math.abs(a), Math.abs(b));
    }
    const relative = (columns.length + 2.1) * unit;
    const blur = relative * (1 + relative) * size;
    sum.low[row]! -= blur;
    sum.high[row]! += blur;
  }
  return sum;
}
