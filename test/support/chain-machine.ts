/**
 * Chains of stages evaluated in float32 (or float64), each operation rounded, in the order and the forms that a machine
 * chooses. Independent of src/verify and of the kernel's evaluation, so that both can be compared with it.
 */

import type { DivideByDeviation, RewardColumn, RowSet, Stage, StagePlan } from '../../src/kernel/stages.ts';
import { deviationOf, gather, lessTheOthers, type Machine, meanOf } from './recipe.ts';

/** The columns that a chain reads. */
export interface ChainColumns {
  readonly group: Int32Array;
  readonly score: Float64Array;
  readonly tokens: Int32Array;
  readonly rewards: readonly RewardColumn[];
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
  const rows = [...given.keys()].filter((row) => plan.missing !== 'exclude' || !Number.isNaN(given[row]!));
  const run: Run = { plan, columns, scores, rows, machine };
  let x: Float64Array = scores.map((value, row) => (rows.includes(row) ? value : 0));
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
      return each(stage.set, (set) => (row) => divided(stage, set, row, x, run));
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
): number {
  const { machine, plan, scores } = run;
  const f = machine.round;
  const alone = stage.set.over === 'group' && set.length === 1;
  if (alone && plan.singleton === 'nan') return Number.NaN;
  const of = stage.of === 'scores' ? scores : x;
  const members = stage.others ? set.filter((other) => other !== row) : set;
  const sigma = alone
    ? plan.singleton === 'raw'
      ? 1
      : 0
    : sizeOf(stage, spread(stage.set, members, of, run), machine);
  const { guard } = stage;
  if (guard !== undefined && !(sigma > guard.above)) return guard.otherwise === 'keep' ? x[row]! : 0;
  const by = withEpsilon(stage, sigma, f);
  if (x[row] === 0) return 0;
  return machine.reciprocal ? f(x[row]! * f(1 / by)) : f(x[row]! / by);
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
