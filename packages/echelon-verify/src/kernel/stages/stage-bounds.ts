/**
 * What a chain of stages can give in the trainer's arithmetic: one interval per row and stage, for every order of
 * summation and every form that libraries use. The derivation is in docs/explanation/error-bounds.md, "Chains of stages".
 */

import type { Arithmetic, Forms } from '../../arithmetic/arithmetic.ts';
import type { InputColumn } from '../../arithmetic/interval.ts';
import {
  blurOf,
  emptyColumn,
  type IntervalColumn,
  keep,
  put,
  radiusOf,
  startOf,
  weightedSum,
} from '../../arithmetic/interval.ts';
import {
  bestOfOthers,
  forEachOthers,
  membersOf,
  type RowSet,
  setIds,
  signalFactor,
  standInsOf,
} from '../sets/row-sets.ts';
import { type SetBounds, tokenSets, valueSets } from '../sets/set-bounds.ts';
import type { Deviation } from '../sets/spread.ts';
import { idCount } from '../sets/steps.ts';
import { boundAccumulate } from './accumulate-bounds.ts';
import {
  applyMissing,
  type ChainRules,
  type DivideByDeviation,
  type Guard,
  markUnscored,
  partMissing,
  type RewardColumn,
  type Stage,
  type StagePlan,
  sequencesOf,
} from './chain.ts';
import { boundGreedyReward, boundTokenBaseline } from './token-baseline-bounds.ts';
import type { TokenInputName, TokenSequences } from './token-sequences.ts';

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
  readonly trajectory?: Int32Array;
  score(): InputColumn;
  tokens(): Int32Array;
  rewards(): readonly { readonly weight: number; readonly column: InputColumn }[];
  readonly sequences?: TokenSequences<InputColumn>;
  /** Of sums over tokens, and of means and deviations over rows; the other stages admit any form. */
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

interface Context {
  readonly input: StageBoundsInput;
  readonly arithmetic: Arithmetic;
}

interface Chain extends Context {
  readonly plan: ChainRules;
  readonly scores: IntervalColumn;
  readonly counted: Uint8Array;
  readonly overflow: Uint8Array;
  /** See `standInsOf`. */
  readonly standIn: Int32Array | undefined;
  /** Of the division of the chain: its sets serve the stage before it too. */
  readonly deviation: Deviation;
  /** The latest sets and their bounds: two stages over the scores share them. */
  latest?: BoundedSets;
}

function boundChain(
  stages: readonly Stage[],
  plan: ChainRules,
  context: Context,
  given: IntervalColumn,
): StageBounds {
  const { scores: value, counted } = applyMissing(plan.missing, given.value, context.input.sequences?.mask);
  const ends = (end: Float64Array) =>
    end.map((x, row) => (Number.isNaN(given.value[row]!) ? value[row]! : x));
  const scores: IntervalColumn =
    value === given.value ? given : { value, low: ends(given.low), high: ends(given.high) };
  const overflow = new Uint8Array(value.length);
  const deviation = stages.find(isDivision)?.deviation ?? 'population';
  const standIn = standInsOf(plan, context.input);
  const chain: Chain = { ...context, plan, scores, counted, overflow, standIn, deviation };
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

function isDivision(stage: Stage): stage is DivideByDeviation {
  return stage.do === 'divide-by-deviation';
}

function boundStage(stage: Stage, chain: Chain, x: IntervalColumn): IntervalColumn {
  switch (stage.do) {
    case 'accumulate': {
      const { arithmetic, overflow } = chain;
      const { forms = 'any' } = chain.input;
      return boundAccumulate(stage, { sequences: intervals(chain), reward: x, arithmetic, forms, overflow });
    }
    case 'subtract-greedy-reward':
      return boundGreedyReward({ sequences: intervals(chain), x, arithmetic: chain.arithmetic });
    case 'subtract-token-baseline':
      return boundTokenBaseline(stage, { sequences: intervals(chain), x, ...chain });
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
        const [low, high] = [factor * x.low[row]!, factor * x.high[row]!];
        const blur = blurOf(low, high, 3.01, chain.arithmetic);
        put(out, row, factor * x.value[row]!, low - blur, high + blur);
      });
    }
    case 'clip': {
      const clip = (v: number): number => Math.min(Math.max(v, -stage.limit), stage.limit);
      return mapRows(x, chain, (row, out) => {
        const [low, high] = [clip(x.low[row]!), clip(x.high[row]!)];
        const blur = blurOf(low, high, 1, chain.arithmetic);
        put(out, row, clip(x.value[row]!), low - blur, high + blur);
      });
    }
  }
}

/** The responses, each column as intervals. */
function intervals({ input }: Chain): TokenSequences<IntervalColumn> {
  const { column, ...tokens } = sequencesOf(input);
  return { ...tokens, column: (name: TokenInputName) => startOf(column(name)) };
}

/** Fills the counted rows of a new column; the others are 0. */
function mapRows(
  x: IntervalColumn,
  { counted }: Chain,
  fill: (row: number, out: IntervalColumn) => void,
): IntervalColumn {
  const out = emptyColumn(x);
  for (let row = 0; row < counted.length; row++) if (counted[row] !== 0) fill(row, out);
  return out;
}

/** The value of a group of one row: itself by `raw`, else 0 (NaN of NaN). */
function putSingle(out: IntervalColumn, { plan }: Chain, x: IntervalColumn, row: number): void {
  if (plan.singleton === 'raw') keep(out, x, row);
  else put(out, row, x.value[row]! - x.value[row]!, 0, 0);
}

const GROUP: RowSet = { over: 'group', weight: 'row' };

interface BoundedSets {
  readonly rowSet: RowSet;
  readonly deviation: Deviation;
  readonly x: IntervalColumn;
  readonly ids: Int32Array;
  readonly bounds: SetBounds;
}

/** The sets of a stage and their bounds. Rows of sets that may overflow are marked. */
function boundsOf(rowSet: RowSet, deviation: Deviation, chain: Chain, x: IntervalColumn): BoundedSets {
  const { input, counted, arithmetic, overflow, standIn, latest } = chain;
  const isLatest = latest?.x === x && latest.deviation === deviation;
  if (isLatest && latest.rowSet.over === rowSet.over && latest.rowSet.weight === rowSet.weight) return latest;
  const { ids, sets } = setIds(rowSet, input, counted);
  const column = { ids: membersOf(ids, standIn), sets, value: x.value, radius: radiusOf(x) };
  const bounds =
    rowSet.weight === 'token'
      ? tokenSets({ ...column, tokens: input.tokens() }, deviation, arithmetic)
      : valueSets(column, deviation, { arithmetic, forms: input.forms ?? 'any' });
  for (let row = 0; row < ids.length; row++) {
    if (ids[row]! >= 0 && bounds.overflow[ids[row]!] === 1) overflow[row] = 1;
  }
  chain.latest = { rowSet, deviation, x, ids, bounds };
  return chain.latest;
}

function subtractMean(rowSet: RowSet, chain: Chain, x: IntervalColumn): IntervalColumn {
  // Of the mean, the kind of deviation says nothing.
  const { ids, bounds } = boundsOf(rowSet, chain.deviation, chain, x);
  const { counted, arithmetic } = chain;
  const out = emptyColumn(x);
  for (let row = 0; row < counted.length; row++) {
    if (counted[row] === 0) continue;
    const at = ids[row]!;
    if (rowSet.over === 'group' && bounds.rows[at] === 1) {
      putSingle(out, chain, x, row);
      continue;
    }
    const mean = bounds.mean[at]!;
    const error = bounds.meanError[at]!;
    const low = x.low[row]! - mean - error;
    const high = x.high[row]! - mean + error;
    // The difference of two close numbers: the float64 evaluation here rounds both.
    const own = 2 ** -51 * Math.abs(mean);
    const blur = blurOf(low, high, 1, arithmetic);
    put(out, row, x.value[row]! - mean, low - blur - own, high + blur + own);
  }
  return out;
}

/** In every form of the leave-one-out difference; see `boundLeaveOneOut` in level-value.ts. */
function subtractOthers(chain: Chain, x: IntervalColumn): IntervalColumn {
  const { ids, bounds } = boundsOf(GROUP, chain.deviation, chain, x);
  const { unit } = chain.arithmetic;
  return mapRows(x, chain, (row, out) => {
    const at = ids[row]!;
    const n = bounds.rows[at]!;
    const value = x.value[row]!;
    if (n === 1) {
      putSingle(out, chain, x, row);
      return;
    }
    const scale = n / (n - 1);
    const mean = bounds.mean[at]!;
    const error = bounds.meanError[at]!;
    const own = Math.max(x.high[row]! - value, value - x.low[row]!);
    const off = scale * (value - mean);
    const terms = scale * (Math.abs(value) + Math.abs(mean) + error + own);
    const blur = scale * (error + own) + (6.06 * unit + 2 ** -50) * terms + unit * Math.abs(off);
    put(out, row, off, off - blur, off + blur);
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
    const [low, high] = [x.low[row]! - b - off, x.high[row]! - b + off];
    const blur = blurOf(low, high, 1, chain.arithmetic);
    put(out, row, value - b, low - blur, high + blur);
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
      put(out, row, 0, 0, 0);
      return;
    }
    const least = Math.max(0, x.low[row]! - high[row]!);
    const most = Math.max(0, x.high[row]! - low[row]!);
    const blur = blurOf(least, most, 1, chain.arithmetic);
    put(out, row, Math.max(0, x.value[row]! - best[row]!), least - blur, most + blur);
  });
}

/** Divisors before ε, and with it: true ones and the intervals of the trainer's. One entry per set, or per row. */
interface Divisors {
  readonly bare: IntervalColumn;
  readonly whole: IntervalColumn;
}

function divideByDeviation(stage: DivideByDeviation, chain: Chain, x: IntervalColumn): IntervalColumn {
  const of = stage.of === 'scores' ? chain.scores : x;
  const { ids, bounds } = boundsOf(stage.set, stage.deviation, chain, of);
  const bare = stage.others ? deviationsOfOthers(stage, chain, ids, of) : deviationsOf(bounds);
  const isGroup = stage.set.over === 'group';
  const { singleton } = chain.plan;
  const count = bare.value.length;
  for (let at = 0; at < count; at++) {
    const alone = isGroup && bounds.rows[stage.others ? ids[at]! : at] === 1;
    if (alone) bare.value[at] = bare.low[at] = bare.high[at] = singleton === 'raw' ? 1 : 0;
  }
  const divisors = { bare, whole: withEpsilon(bare, (sigma) => epsilonAdded(sigma, stage)) };
  const { counted } = chain;
  const out = emptyColumn(x);
  for (let row = 0; row < counted.length; row++) {
    if (counted[row] === 0) continue;
    const set = ids[row]!;
    if (isGroup && singleton === 'nan' && bounds.rows[set] === 1)
      put(out, row, Number.NaN, Number.NaN, Number.NaN);
    else divide(out, { chain, x, row, divisors, at: stage.others ? row : set, guard: stage.guard });
  }
  return out;
}

function deviationsOf({ deviation, deviationLow, deviationHigh }: SetBounds): IntervalColumn {
  return { value: deviation.slice(), low: deviationLow.slice(), high: deviationHigh.slice() };
}

function withEpsilon({ value, low, high }: IntervalColumn, add: (sigma: number) => number): IntervalColumn {
  return { value: value.map(add), low: low.map(add), high: high.map(add) };
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
  { arithmetic, standIn }: Chain,
  ids: Int32Array,
  of: IntervalColumn,
): IntervalColumn {
  const radius = radiusOf(of);
  const divisors = emptyColumn(of);
  forEachOthers(ids, standIn, (row, others) => {
    // The deviation of one value is 0 in every form: x² − x² has no rounding of its own.
    if (others.length < 2) return;
    const column = {
      ids: new Int32Array(others.length),
      sets: 1,
      value: Float64Array.from(others, (other) => of.value[other]!),
      radius: Float64Array.from(others, (other) => radius[other]!),
    };
    const bounds = valueSets(column, deviation, { arithmetic, forms: 'any' });
    divisors.value[row] = bounds.deviation[0]!;
    divisors.low[row] = bounds.deviationLow[0]!;
    divisors.high[row] = bounds.deviationHigh[0]!;
  });
  return divisors;
}

function divideByMean(
  { epsilon, guard }: { readonly epsilon: number; readonly guard?: Guard },
  chain: Chain,
  x: IntervalColumn,
): IntervalColumn {
  const { ids, bounds } = boundsOf(GROUP, chain.deviation, chain, chain.scores);
  const { mean, meanError } = bounds;
  const low = mean.map((value, at) => value - meanError[at]!);
  const high = mean.map((value, at) => value + meanError[at]!);
  const bare = { value: mean, low, high };
  const divisors = { bare, whole: withEpsilon(bare, (value) => value + epsilon) };
  return mapRows(x, chain, (row, out) => {
    const at = ids[row]!;
    if (bounds.rows[at] === 1 && chain.plan.singleton === 'raw') keep(out, x, row);
    else divide(out, { chain, x, row, divisors, at, guard });
  });
}

interface Division {
  readonly chain: Chain;
  readonly x: IntervalColumn;
  readonly row: number;
  readonly divisors: Divisors;
  /** Entry of the row's divisor. */
  readonly at: number;
  readonly guard: Guard | undefined;
}

/** ε, the sum, the root or reciprocal root, the product: 8 u in any form, against the size of the quotient. */
const DIVISION_ROUNDINGS = 8.1;

/** A quotient under a guard: what the guard may give and what the division may give, together. */
function divide(out: IntervalColumn, { chain, x, row, divisors, at, guard }: Division): void {
  const { bare, whole } = divisors;
  const value = x.value[row]!;
  const quotient = value === 0 ? 0 : value / whole.value[at]!;
  if (guard === undefined) {
    putQuotients(out, chain, { x, row, whole, at });
    put(out, row, quotient, out.low[row]!, out.high[row]!);
    return;
  }
  const kept = guard.otherwise === 'keep' ? 1 : 0;
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  if (bare.high[at]! > guard.above) {
    putQuotients(out, chain, { x, row, whole, at });
    low = out.low[row]!;
    high = out.high[row]!;
  }
  if (bare.low[at]! <= guard.above) {
    low = Math.min(low, kept * x.low[row]!, kept * x.high[row]!);
    high = Math.max(high, kept * x.low[row]!, kept * x.high[row]!);
  }
  const guarded = !(bare.value[at]! > guard.above);
  put(out, row, guarded ? kept * value : quotient, low, high);
}

type Quotient = Pick<Division, 'x' | 'row' | 'at'> & { readonly whole: IntervalColumn };

/** Writes the ends of a quotient. */
function putQuotients(
  out: IntervalColumn,
  { arithmetic, overflow }: Chain,
  { x, row, whole, at }: Quotient,
): void {
  const [low, high] = [x.low[row]!, x.high[row]!];
  const [least, most] = [whole.low[at]!, whole.high[at]!];
  if (low === 0 && high === 0) out.low[row] = out.high[row] = 0;
  // A divisor that may be 0 says nothing of the quotient.
  else if (!(least * most > 0)) {
    overflow[row] = 1;
    out.low[row] = Number.NEGATIVE_INFINITY;
    out.high[row] = Number.POSITIVE_INFINITY;
  } else {
    const [a, b, c, d] = [low / least, low / most, high / least, high / most];
    const [first, last] = [Math.min(a, b, c, d), Math.max(a, b, c, d)];
    const blur = blurOf(first, last, DIVISION_ROUNDINGS, arithmetic);
    out.low[row] = first - blur;
    out.high[row] = last + blur;
  }
}
