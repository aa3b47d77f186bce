/**
 * Chains of stages evaluated in float32 (or float64), each operation rounded, in the order and the forms that a machine
 * chooses. Independent of packages/echelon-verify/src and of the kernel's evaluation, so that both can be compared with it.
 */

import type { RowSet } from '../../src/kernel/sets/row-sets.ts';
import type { Accumulate } from '../../src/kernel/stages/accumulate.ts';
import type { RewardColumn, StagePlan } from '../../src/kernel/stages/chain.ts';
import type { DivideByDeviation } from '../../src/kernel/stages/divide-by-deviation.ts';
import type { SubtractTokenBaseline } from '../../src/kernel/stages/subtract-token-baseline.ts';
import type { Stage } from '../../src/kernel/stages/table.ts';
import type { TokenInputName } from '../../src/kernel/stages/token-sequences.ts';
import { deviationOf, gather, lessTheOthers, type Machine, meanOf } from './recipe.ts';

/** The columns that a chain reads. */
export interface ChainColumns {
  readonly group: Int32Array;
  readonly score: Float64Array;
  readonly tokens: Int32Array;
  readonly rewards: readonly RewardColumn[];
  /** For a chain over tokens. */
  readonly sequences?: {
    readonly offset: Int32Array;
    readonly mask: Uint8Array;
    /** Group of each response. */
    readonly group: Int32Array;
    /** Columns of the tokens; `rewardBaseline` too has one entry per token. */
    readonly column: Readonly<Partial<Record<TokenInputName, Float64Array>>>;
  };
}

/** What a trainer on `machine` reports for a chain. Scores that are NaN are for plans that state what they do. */
export function chainOn(plan: StagePlan, columns: ChainColumns, machine: Machine): Float64Array {
  const f = machine.round;
  const rounded = (x: Float64Array) => (machine.roundsInputs ? x.map(f) : x);
  if (plan.perReward === undefined) return chain(plan.stages, plan, columns, rounded(columns.score), machine);
  const missing = plan.missing === 'propagate' ? 'propagate' : 'exclude';
  const parts = columns.rewards.map(({ weight, value }) => {
    const own = chain(plan.perReward!, { ...plan, missing }, columns, rounded(value), machine);
    return own.map((x) => f(f(weight) * x));
  });
  const sum = columns.score.map((_, row) => {
    const unscored = columns.rewards.every(({ value }) => Number.isNaN(value[row]!));
    if (plan.missing !== 'propagate' && unscored) return Number.NaN;
    return parts.reduce((total, part) => f(total + part[row]!), 0);
  });
  return chain(plan.stages, plan, columns, sum, machine);
}

interface Run {
  readonly plan: Pick<StagePlan, 'singleton'>;
  readonly columns: ChainColumns;
  readonly scores: Float64Array;
  readonly rows: readonly number[];
  readonly machine: Machine;
}

function chain(
  stages: readonly Stage[],
  plan: Pick<StagePlan, 'singleton' | 'missing'>,
  columns: ChainColumns,
  given: Float64Array,
  machine: Machine,
): Float64Array {
  const scores = plan.missing === 'propagate' ? given : given.map((x) => (Number.isNaN(x) ? 0 : x));
  const mask = columns.sequences?.mask;
  const rows = [...given.keys()].filter(
    (row) => mask?.[row] !== 0 && (plan.missing !== 'exclude' || !Number.isNaN(given[row]!)),
  );
  const run: Run = { plan, columns, scores, rows, machine };
  // Sums over tokens may read tokens outside the mask.
  let x: Float64Array = mask === undefined ? scores.map((v, row) => (rows.includes(row) ? v : 0)) : scores;
  for (const stage of stages) x = step(stage, run, x);
  return x;
}

function setsOf({ over }: RowSet, { columns, rows }: Run): number[][] {
  const of = gather(rows.length, (i) => (over === 'batch' ? 'all' : String(columns.group[rows[i]!])));
  return of.map((set) => set.map((i) => rows[i]!));
}

/** Each value once, or once per token. */
function spread({ weight }: RowSet, set: readonly number[], x: Float64Array, { columns }: Run): number[] {
  if (weight === 'row') return set.map((row) => x[row]!);
  return set.flatMap((row) => new Array<number>(columns.tokens[row]!).fill(x[row]!));
}

function step(stage: Stage, run: Run, x: Float64Array): Float64Array {
  const { machine, plan, columns } = run;
  const f = machine.round;
  const out = new Float64Array(x.length);
  const each = (rowSet: RowSet, of: (set: readonly number[]) => (row: number) => number): Float64Array => {
    for (const set of setsOf(rowSet, run)) {
      const value = of(set);
      for (const row of set) out[row] = value(row);
    }
    return out;
  };
  const group: RowSet = { over: 'group', weight: 'row' };
  const divide = (a: number, b: number): number => (machine.reciprocal ? f(a * f(1 / b)) : f(a / b));
  switch (stage.do) {
    case 'accumulate':
      return tokenSums(stage, columns, x, machine);
    case 'subtract-greedy-reward':
      return x.map((value, t) => f(value - columns.sequences!.column.rewardBaseline![t]!));
    case 'subtract-token-baseline':
      return lessTokenBaseline(stage, columns, x, machine);
    case 'subtract-mean':
      return each(stage.set, (set) => {
        if (stage.set.over === 'group' && set.length === 1)
          return (row) => (plan.singleton === 'raw' ? f(x[row]!) : 0);
        const mean = weightedMean(stage.set, set, x, run);
        return (row) => f(x[row]! - mean);
      });
    case 'subtract-others':
      return each(group, (set) => {
        if (set.length === 1) return (row) => (plan.singleton === 'raw' ? f(x[row]!) : 0);
        const values = set.map((row) => x[row]!);
        return (row) => lessTheOthers(values, set.indexOf(row), machine);
      });
    case 'subtract-moving-average': {
      const baseline = new Map<number, number>();
      for (const row of run.rows) {
        const b = baseline.get(columns.group[row]!) ?? f(stage.start);
        out[row] = f(x[row]! - b);
        const rest = f(1 - stage.decay);
        const next = machine.fused
          ? f(b + f(rest * f(x[row]! - b)))
          : f(f(f(stage.decay) * b) + f(rest * x[row]!));
        baseline.set(columns.group[row]!, next);
      }
      return out;
    }
    case 'best-less-second':
      return each(group, (set) => {
        const sorted = set.toSorted((a, b) => x[b]! - x[a]!);
        return (row) => (row === sorted[0] && set.length > 1 ? f(x[row]! - x[sorted[1]!]!) : 0);
      });
    case 'divide-by-deviation':
      return each(stage.set, (set) => {
        // One deviation for all rows of the set, unless each has its own.
        const sigma = stage.others ? undefined : sigmaOf(stage, set, set[0]!, x, run);
        return (row) => divided(stage, set, row, x, run, sigma);
      });
    case 'divide-by-mean':
      return each(group, (set) => {
        const one = set.length === 1 && plan.singleton === 'raw';
        if (one) return (row) => x[row]!;
        const mean = weightedMean(group, set, run.scores, run);
        const guarded = stage.guard !== undefined && !(mean > stage.guard.above);
        if (guarded) return (row) => (stage.guard!.otherwise === 'keep' ? x[row]! : 0);
        const by = stage.epsilon === 0 ? mean : f(mean + f(stage.epsilon));
        return (row) => divide(x[row]!, by);
      });
    case 'multiply-by-signal-share': {
      const signal = run.rows.filter((row) => run.scores[row] !== 0).length;
      const factor = f(run.rows.length / Math.max(1, signal));
      for (const row of run.rows) out[row] = f(factor * x[row]!);
      return out;
    }
    case 'clip':
      return x.map((value) => Math.min(Math.max(value, -f(stage.limit)), f(stage.limit)));
  }
}

/** Length of the blocks of a scan. */
const BLOCK = 128;

/** Token by token from the last, or in blocks with powers of the factor, as slime has it. */
function tokenSums(
  stage: Accumulate,
  columns: ChainColumns,
  reward: Float64Array,
  machine: Machine,
): Float64Array {
  const { offset, mask, column } = columns.sequences!;
  const value = column.value ?? new Float64Array(mask.length);
  const out = new Float64Array(mask.length);
  for (let row = 0; row + 1 < offset.length; row++) {
    for (const span of spansOf(stage, offset[row]!, offset[row + 1]!, mask)) {
      const counts = (t: number) => mask[t] !== 0 || stage.masked === 'include';
      const deltas = span.map((t, i) => {
        const next = span[i + 1];
        const own = stage.values && counts(t) ? value[t]! : 0;
        const ahead = stage.values && next !== undefined && counts(next) ? value[next]! : 0;
        return deltaOn(counts(t) ? reward[t]! : 0, ahead, own, stage, machine);
      });
      const sums = machine.reciprocal ? inBlocks(deltas, stage, machine) : oneByOne(deltas, stage, machine);
      span.forEach((t, i) => {
        if (mask[t] !== 0) out[t] = sums[i]!;
      });
    }
  }
  return out;
}

/** Returns less their weighted mean at one place of a group. */
function lessTokenBaseline(
  stage: SubtractTokenBaseline,
  { sequences }: ChainColumns,
  x: Float64Array,
  machine: Machine,
): Float64Array {
  const { offset, mask, group } = sequences!;
  const f = machine.round;
  const W = pathSums(stage, sequences!, machine);
  const out = x.slice();
  const trained = (row: number) =>
    [...mask.keys()].filter((t) => t >= offset[row]! && t < offset[row + 1]! && mask[t] !== 0);
  for (const all of gather(group.length, (row) => String(group[row]))) {
    const rows = stage.align === 'position' ? all : all.filter((row) => trained(row).length > 0);
    if (rows.length === 1) continue;
    const lengths = rows.map((row) => trained(row).length).toSorted((a, b) => b - a);
    const placeOf = (row: number, t: number) =>
      stage.align === 'position' ? t - offset[row]! : trained(row).indexOf(t);
    const tokens = rows.flatMap((row) => trained(row).map((t) => ({ t, row, place: placeOf(row, t) })));
    for (const { t, row, place } of tokens) {
      const isLongest = trained(row).length > lengths[1]!;
      if (stage.zeroTail && isLongest && place >= lengths[1]!) continue;
      const here = tokens.filter((other) => other.place === place).map((other) => other.t);
      const products = machine.sum(here.map((at) => f(x[at]! * W[at]!)));
      const weights = f(machine.sum(here.map((at) => W[at]!)) + f(stage.epsilon));
      const mean = machine.reciprocal ? f(products * f(1 / weights)) : f(products / weights);
      out[t] = f(x[t]! - mean);
    }
  }
  return out;
}

/** Sums of 1 − 2π + Σπ²; the exponential is the nearest number, or one beside it. */
function pathSums(
  { rolloutWeights }: SubtractTokenBaseline,
  { offset, mask, column }: NonNullable<ChainColumns['sequences']>,
  { round: f, sum, fused }: Machine,
): Float64Array {
  const W = new Float64Array(mask.length);
  const step = f(1 + 2 ** -52) === 1 ? 2 ** -23 : 2 ** -52;
  for (let row = 0; row + 1 < offset.length; row++) {
    const terms: number[] = [];
    for (let t = offset[row]!; t < offset[row + 1]!; t++) {
      if (mask[t] === 0) continue;
      const p = f(Math.exp(column.logProb![t]!) * (fused ? 1 + step : 1));
      const w = f(f(1 - 2 * p) + column.squaredProbabilities![t]!);
      const rho = rolloutWeights ? column.rolloutWeight![t]! : 1;
      terms.push(fused ? f(f(w * rho) * rho) : f(w * f(rho * rho)));
      W[t] = sum(terms);
    }
  }
  return W;
}

/** The tokens that one sum runs over. */
function spansOf({ masked }: Accumulate, from: number, to: number, mask: Uint8Array): number[][] {
  const all = Array.from({ length: to - from }, (_, i) => from + i);
  if (masked === 'skip') return [all.filter((t) => mask[t] !== 0)];
  if (masked !== 'reset') return [all];
  const spans: number[][] = [[]];
  for (const t of all) {
    if (mask[t] === 0) spans.push([]);
    else spans.at(-1)!.push(t);
  }
  return spans;
}

function deltaOn(
  r: number,
  next: number,
  own: number,
  { discount, values }: Accumulate,
  machine: Machine,
): number {
  if (!values) return r;
  const f = machine.round;
  if (machine.fused) return f(f(r - own) + f(discount) * next);
  return f(f(r + f(f(discount) * next)) - own);
}

function oneByOne(deltas: readonly number[], { discount, lambda }: Accumulate, machine: Machine): number[] {
  const f = machine.round;
  const factor = f(discount * lambda);
  const sums = new Array<number>(deltas.length).fill(0);
  let sum = 0;
  for (let i = deltas.length - 1; i >= 0; i--) {
    sum = machine.fused ? f(deltas[i]! + factor * sum) : f(deltas[i]! + f(factor * sum));
    sums[i] = sum;
  }
  return sums;
}

function inBlocks(deltas: readonly number[], { discount, lambda }: Accumulate, machine: Machine): number[] {
  const f = machine.round;
  const factor = f(discount * lambda);
  const reversed = deltas.toReversed();
  const sums: number[] = [];
  let before = 0;
  for (let start = 0; start < reversed.length; start += BLOCK) {
    const block = reversed.slice(start, start + BLOCK);
    const own = block.map((_, i) => {
      const terms = block.slice(0, i + 1).map((x, k) => f(f(factor ** (i - k)) * x));
      return f(machine.sum(terms) + f(f(factor ** (i + 1)) * before));
    });
    sums.push(...own);
    before = own.at(-1)!;
  }
  return sums.toReversed();
}

function weightedMean(rowSet: RowSet, set: readonly number[], x: Float64Array, run: Run): number {
  const { machine, columns } = run;
  const f = machine.round;
  if (rowSet.weight === 'row' || machine.mean !== 'divided')
    return meanOf(spread(rowSet, set, x, run), machine.sum, machine);
  // The sum of products with lengths, as for a baseline weighted by length.
  const total = set.reduce((sum, row) => sum + columns.tokens[row]!, 0);
  return f(machine.sum(set.map((row) => f(columns.tokens[row]! * x[row]!))) / total);
}

function divided(
  stage: DivideByDeviation,
  set: readonly number[],
  row: number,
  x: Float64Array,
  run: Run,
  known?: number,
): number {
  const { machine, plan } = run;
  const f = machine.round;
  const alone = stage.set.over === 'group' && set.length === 1;
  if (alone && plan.singleton === 'nan') return Number.NaN;
  const sigma = known ?? sigmaOf(stage, set, row, x, run);
  const { guard } = stage;
  if (guard !== undefined && !(sigma > guard.above)) return guard.otherwise === 'keep' ? x[row]! : 0;
  const by = withEpsilon(stage, sigma, f);
  if (x[row] === 0) return 0;
  return machine.reciprocal ? f(x[row]! * f(1 / by)) : f(x[row]! / by);
}

function sigmaOf(
  stage: DivideByDeviation,
  set: readonly number[],
  row: number,
  x: Float64Array,
  run: Run,
): number {
  if (stage.set.over === 'group' && set.length === 1) return run.plan.singleton === 'raw' ? 1 : 0;
  const members = stage.others ? set.filter((other) => other !== row) : set;
  const of = stage.of === 'scores' ? run.scores : x;
  return sizeOf(stage, spread(stage.set, members, of, run), run.machine);
}

function sizeOf({ deviation }: DivideByDeviation, values: readonly number[], machine: Machine): number {
  if (values.length === 1) return 0;
  const divisor = deviation === 'population' ? values.length : values.length - 1;
  return deviationOf(values, divisor, machine);
}

function withEpsilon(
  { epsilon, epsilonPlace }: DivideByDeviation,
  sigma: number,
  f: (x: number) => number,
): number {
  const e = f(epsilon);
  switch (epsilonPlace) {
    case 'added':
      return f(sigma + e);
    case 'floor':
      return Math.max(sigma, e);
    case 'variance-added':
      return f(Math.sqrt(f(f(sigma * sigma) + e)));
    case 'variance-floor':
      return f(Math.sqrt(Math.max(f(sigma * sigma), e)));
  }
}
