/**
 * The recipe's formulas evaluated in float32 (or float64), each operation rounded, in a chosen order of summation:
 * what a trainer on some machine may report. Independent of packages/echelon-verify/src, so that its bounds can be tried against it.
 */

import type { Batch } from '../../src/format/batch.ts';
import type { G2poParameters } from '../../src/kernel/estimators/g2po.ts';
import type { HgpoParameters } from '../../src/kernel.ts';
import { parametersOf } from './stated.ts';

/** Rounds a float64 number to what the machine computes in. */
export type Rounding = (x: number) => number;

/** Adds numbers in some order, rounding after each addition. */
export type Summation = (values: readonly number[]) => number;

/** Left to right. */
const naiveIn =
  (f: Rounding): Summation =>
  (values) =>
    values.reduce((sum, x) => f(sum + x), 0);

/** Halves, recursively. */
const pairwiseIn = (f: Rounding): Summation => {
  const add: Summation = (values) => {
    if (values.length <= 2) return naiveIn(f)(values);
    const half = values.length >> 1;
    return f(add(values.slice(0, half)) + add(values.slice(half)));
  };
  return add;
};

/** Independent accumulators, added up at the end: vector registers. */
const lanesIn =
  (f: Rounding, width: number): Summation =>
  (values) => {
    const sums = new Array<number>(width).fill(0);
    values.forEach((x, i) => {
      sums[i % width] = f(sums[i % width]! + x);
    });
    return pairwiseIn(f)(sums);
  };

/** Any order, and any tree: takes two numbers by chance and puts their sum back. */
const randomTreeIn =
  (f: Rounding, random: () => number): Summation =>
  (values) => {
    const rest = [...values];
    const take = (): number => rest.splice(Math.floor(random() * rest.length), 1)[0]!;
    while (rest.length > 1) rest.push(f(take() + take()));
    return rest[0] ?? 0;
  };

/** All kinds of summation, in one arithmetic. */
export function summations(f: Rounding, random: () => number): Summation[] {
  return [naiveIn(f), pairwiseIn(f), lanesIn(f, 8), lanesIn(f, 16), randomTreeIn(f, random)];
}

/** How a mean comes about: sum / n, sum * (1 / n), or updated value by value. */
const MEANS = ['divided', 'reciprocal', 'running'] as const;

/** How a sum of squares comes about: about the mean, updated value by value, or from sums of values and squares. */
const DEVIATIONS = ['two-pass', 'running', 'one-pass', 'one-pass-means'] as const;

/** The equivalent forms of a value less the mean of the others. */
const LEAVE_ONE_OUT = [
  'terms',
  'scaled',
  'sum',
  'others',
  'others-of-sum',
  'others-of-mean',
  'share',
] as const;

/** Choices that a machine makes: how it adds, whether it fuses, which forms it takes. */
export interface Machine {
  readonly mean: (typeof MEANS)[number];
  readonly deviation: (typeof DEVIATIONS)[number];
  readonly leaveOneOut: (typeof LEAVE_ONE_OUT)[number];
  /** x * (1 / y) instead of x / y. */
  readonly reciprocal: boolean;
  /** Values that are not numbers of the format are rounded before anything else. */
  readonly roundsInputs: boolean;
  readonly round: Rounding;
  readonly sum: Summation;
  /** Used for the mean inside the deviation, which may be computed separately. */
  readonly deviationSum: Summation;
  readonly fused: boolean;
  /** Squares in double precision about the float32 mean, as torch does on the CPU. */
  readonly wideDeviation: boolean;
  /** Weights in double precision, as Python numbers, or in float32. */
  readonly wideWeights: boolean;
}

/**
 * A machine drawn by chance; it computes in float32 unless told otherwise, and in the recipe's own forms or in any.
 */
export function randomMachine(
  random: () => number,
  round: Rounding = Math.fround,
  forms: 'recipe' | 'any' = 'any',
): Machine {
  const of = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
  const formOf = <T>(items: readonly T[]): T => (forms === 'any' ? of(items) : items[0]!);
  const sums = summations(round, random);
  return {
    round,
    mean: formOf(MEANS),
    deviation: formOf(DEVIATIONS),
    leaveOneOut: formOf(LEAVE_ONE_OUT),
    reciprocal: formOf([false, true]),
    roundsInputs: formOf([true, false]),
    sum: of(sums),
    deviationSum: of(sums),
    fused: random() < 0.5,
    wideDeviation: random() < 0.5,
    wideWeights: random() < 0.5,
  };
}

/** The mean of values, in the machine's form. */
export function meanOf(values: readonly number[], sum: Summation, machine: Machine): number {
  const f = machine.round;
  if (machine.mean === 'running') return running(values, machine).mean;
  if (machine.mean === 'reciprocal') return f(sum(values) * f(1 / values.length));
  return f(sum(values) / values.length);
}

/** Welford's method: mean and sum of squares, value by value or in two halves that are joined. */
function running(values: readonly number[], machine: Machine): { mean: number; squares: number } {
  const f = machine.round;
  if (machine.fused && values.length > 3) {
    const half = values.length >> 1;
    const a = running(values.slice(0, half), machine);
    const b = running(values.slice(half), machine);
    const delta = f(b.mean - a.mean);
    const share = f((values.length - half) / values.length);
    return {
      mean: f(a.mean + f(delta * share)),
      squares: f(f(a.squares + b.squares) + f(f(f(delta * delta) * half) * share)),
    };
  }
  let mean = 0;
  let squares = 0;
  values.forEach((x, i) => {
    const delta = f(x - mean);
    mean = f(mean + (machine.reciprocal ? f(delta * f(1 / (i + 1))) : f(delta / (i + 1))));
    squares = f(squares + f(delta * f(x - mean)));
  });
  return { mean, squares };
}

/** The root of the sum of squares over `divisor`, in the machine's form. */
export function deviationOf(values: readonly number[], divisor: number, machine: Machine): number {
  const f = machine.round;
  const root = (squares: number): number =>
    f(Math.sqrt(Math.max(0, machine.reciprocal ? f(squares * f(1 / divisor)) : f(squares / divisor))));
  if (machine.deviation === 'running') return root(running(values, machine).squares);
  if (machine.deviation === 'one-pass' || machine.deviation === 'one-pass-means') {
    const squares = machine.deviationSum(values.map((x) => f(x * x)));
    if (machine.deviation === 'one-pass') {
      const sum = machine.deviationSum(values);
      return root(f(squares - f(f(sum * sum) / values.length)));
    }
    const mean = meanOf(values, machine.deviationSum, { ...machine, mean: 'divided' });
    const variance = f(f(squares / values.length) - f(mean * mean));
    return f(Math.sqrt(Math.max(0, f(f(variance * values.length) / divisor))));
  }
  const mean = meanOf(values, machine.deviationSum, machine);
  if (machine.wideDeviation) {
    return f(Math.sqrt(values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / divisor));
  }
  const offs = values.map((x) => f(x - mean));
  if (machine.fused) return root(offs.reduce((sum, d) => f(d * d + sum), 0));
  const squares = offs.map((d) => f(d * d));
  return root(machine.deviationSum(squares));
}

interface Normalisation {
  readonly divided: boolean;
  readonly population: boolean;
  readonly epsilon: number;
  /** Without the deviation, the divisor is 1 + ε. */
  readonly byOne?: boolean;
  /** Deviations up to 1e-6 give 0. */
  readonly guarded?: boolean;
  /** Neither mean nor deviation. */
  readonly raw?: boolean;
}

function normalise(values: readonly number[], how: Normalisation, machine: Machine): number[] {
  const f = machine.round;
  if (how.raw) return values.map(f);
  const mean = meanOf(values, machine.sum, machine);
  if (!how.divided && how.byOne !== true) return values.map((x) => f(x - mean));
  const divisor = how.population ? values.length : values.length - 1;
  const deviation = how.divided ? deviationOf(values, divisor, machine) : 1;
  if (how.guarded === true && how.divided && !(deviation > 1e-6)) return values.map(() => 0);
  const by = f(deviation + f(how.epsilon));
  const divide = (x: number): number => (machine.reciprocal ? f(x * f(1 / by)) : f(x / by));
  return values.map((x) => divide(f(x - mean)));
}

/** Rows by key, in batch order. */
export function gather(rows: number, key: (row: number) => string | undefined): number[][] {
  const clusters = new Map<string, number[]>();
  for (let row = 0; row < rows; row++) {
    const k = key(row);
    if (k === undefined) continue;
    const members = clusters.get(k);
    if (members === undefined) clusters.set(k, [row]);
    else members.push(row);
  }
  return [...clusters.values()];
}

/** What the trainer on `machine` reports for the batch, from its reported step returns and scores. */
export function advantagesOn(stated: Batch, machine: Machine): Float64Array {
  const f = machine.round;
  const batch = machine.roundsInputs ? { ...stated, ...roundedInputs(stated, f) } : stated;
  const { name } = batch.estimator;
  const parameters = parametersOf(batch.estimator);
  const { normalizeByStd = true, mode, epsilon = 0, deviation } = parameters;
  const sample = { divided: mode === 'mean_std_norm', population: deviation === 'population', epsilon };
  if (name === 'hgpo') return hgpo32(batch, machine);
  if (name === 'grpo') return episode(batch, { ...sample, divided: normalizeByStd }, machine);
  if (name === 'rloo') return leaveOneOut(batch, machine);
  if (name === 'g2po') return g2po32(batch, sample, machine);
  const { undivided, guard, episodeMode = 'as-mode' } = parameters;
  const how = (of: string | undefined): Normalisation => ({
    ...sample,
    divided: of === 'mean_std_norm',
    raw: of === 'raw',
    byOne: undivided === 'one-plus-epsilon',
    guarded: guard === 'zero',
  });
  const whole = episode(batch, how(episodeMode === 'as-mode' ? mode : episodeMode), machine);
  const step = stateTerm(batch, how(mode), machine);
  const weight = f(parameters.stepAdvantageWeight!);
  return whole.map((a, row) => f(a + (machine.fused ? weight * step[row]! : f(weight * step[row]!))));
}

function roundedInputs(batch: Batch, f: Rounding): Pick<Batch, 'tokenLevelRewardSum' | 'reportedStepReward'> {
  return {
    tokenLevelRewardSum: batch.tokenLevelRewardSum!.map(f),
    reportedStepReward: batch.reportedStepReward!.map(f),
  };
}

/** The rows of each group, the scores that its statistics run over, and the place of each row among these. */
/** The scores, or the means of their trajectories. */
function scoresOf(
  { estimator, tokenLevelRewardSum, trajectory, rows }: Batch,
  machine: Machine,
): Float64Array {
  const score = tokenLevelRewardSum!;
  if (parametersOf(estimator).statistics !== 'trajectory-mean') return score;
  const means = score.slice();
  for (const members of gather(rows, (row) => String(trajectory[row]))) {
    const mean = meanOf(
      members.map((row) => score[row]!),
      machine.sum,
      machine,
    );
    for (const row of members) means[row] = mean;
  }
  return means;
}

function groupsOf(batch: Batch, machine: Machine): { rows: number[]; values: number[]; place: number[] }[] {
  const score = scoresOf(batch, machine);
  const { statistics = 'rows' } = parametersOf(batch.estimator);
  const each = statistics === 'rows' ? undefined : batch.trajectory;
  return gather(batch.rows, (row) => String(batch.group[row])).map((rows) => {
    const keys = rows.map((row) => each?.[row] ?? row);
    const distinct = [...new Set(keys)];
    return {
      rows,
      values: distinct.map((key) => score[rows[keys.indexOf(key)]!]!),
      place: keys.map((key) => distinct.indexOf(key)),
    };
  });
}

function episode(batch: Batch, how: Normalisation, machine: Machine): Float64Array {
  const f = machine.round;
  const advantage = new Float64Array(batch.rows);
  for (const { rows, values, place } of groupsOf(batch, machine)) {
    const single = (x: number): number =>
      how.divided || how.byOne === true ? f(x / f(1 + f(how.epsilon))) : f(x);
    const own = values.length === 1 ? values.map(single) : normalise(values, how, machine);
    rows.forEach((row, i) => {
      advantage[row] = own[place[i]!]!;
    });
  }
  return advantage;
}

function stateTerm(batch: Batch, how: Normalisation, machine: Machine): Float64Array {
  const overBatch = parametersOf(batch.estimator).statesOver === 'batch';
  const advantage = new Float64Array(batch.rows);
  for (const members of gather(
    batch.rows,
    (row) => `${overBatch ? '' : batch.group[row]}/${batch.observation![row]}`,
  )) {
    if (members.length === 1 && how.raw !== true) continue;
    const own = normalise(
      members.map((row) => batch.reportedStepReward![row]!),
      how,
      machine,
    );
    members.forEach((row, i) => {
      advantage[row] = own[i]!;
    });
  }
  return advantage;
}

/** The rounding of one kernel: equal values of a column stay equal, also on a machine whose operations have different formats. */
function roundedAlike(round: Rounding): Rounding {
  const known = new Map<number, number>();
  return (x) => {
    const rounded = known.get(x) ?? round(x);
    known.set(x, rounded);
    return rounded;
  };
}

/** c1 in double precision, c2 in the machine's; products of discount and reward in either format of numpy, if forms are free. */
function g2po32(batch: Batch, how: Normalisation, machine: Machine): Float64Array {
  const f = machine.round;
  const { stepAdvantageWeight: weight, valueFormat } = batch.estimator.params as G2poParameters;
  const isFree = batch.estimator.forms !== 'recipe' && machine.fused;
  const isDouble = (valueFormat === 'float64') !== isFree;
  const rows = Array.from({ length: batch.rows }, (_, row) => row);
  const episodes = gather(batch.rows, (row) => String(batch.trajectory[row]));
  const total = (own: number[]) => own.reduce((sum, row) => Math.fround(sum + batch.reward![row]!), 0);
  const node = (row: number) => `${batch.group[row]}/${batch.observation![row]}`;
  const visits = new Map<string, number[]>();
  for (const own of episodes)
    own.forEach((row, t) => {
      const power = 0.95 ** (own.length - t);
      const term = isDouble ? power * total(own) : Math.fround(Math.fround(power) * total(own));
      visits.set(node(row), [...(visits.get(node(row)) ?? []), term]);
    });
  const value = (row: number) => {
    const terms = visits.get(node(row))!;
    return terms.reduce((sum, x) => sum + x, 0) / terms.length;
  };
  const after = new Float64Array(batch.rows);
  for (const own of episodes)
    own.forEach((row, t) => {
      after[row] = t + 1 < own.length ? value(own[t + 1]!) : total(own) === 10 ? 10 : 0;
    });
  const exactly = (x: number) => x;
  const double = { ...machine, round: exactly, sum: naiveIn(exactly), deviationSum: naiveIn(exactly) };
  const successor = after.map((x, row) => x - (batch.actionValid![row] === 0 ? 0.1 : 0));
  const c1 = stateTerm({ ...batch, reportedStepReward: successor }, how, double).map(f);
  const gain = after.map((x, row) => x - value(row)).map(roundedAlike(f));
  const c2 = new Float64Array(batch.rows);
  for (const members of gather(batch.rows, (row) => String(batch.group[row]))) {
    const own = members.map((row) => gain[row]!);
    const hasNone = own.length === 1 && how.divided && !how.population;
    const parts = own.length > 1 ? normalise(own, how, machine) : [hasNone ? Number.NaN : 0];
    members.forEach((row, i) => {
      c2[row] = parts[i]!;
    });
  }
  const whole = episode(batch, how, machine);
  return Float64Array.from(rows, (row) => f(whole[row]! + f(f(weight) * f(c1[row]! + c2[row]!))));
}

function leaveOneOut(batch: Batch, machine: Machine): Float64Array {
  const advantage = new Float64Array(batch.rows);
  for (const { rows, values, place } of groupsOf(batch, machine)) {
    rows.forEach((row, i) => {
      advantage[row] = lessTheOthers(values, place[i]!, machine);
    });
  }
  return advantage;
}

/** A value less the mean of the others, in the machine's form. */
export function lessTheOthers(values: readonly number[], at: number, machine: Machine): number {
  const f = machine.round;
  const n = values.length;
  const x = values[at]!;
  if (n === 1) return f(x);
  const by = (v: number, d: number): number => (machine.reciprocal ? f(v * f(1 / d)) : f(v / d));
  const others = values.filter((_, i) => i !== at);
  const mean = (): number => meanOf(values, machine.sum, machine);
  switch (machine.leaveOneOut) {
    case 'terms':
      if (machine.fused) return f(f(f(x * n) / (n - 1)) - f(mean() * f(n / (n - 1))));
      return f(f(f(x * n) / (n - 1)) - f(f(mean() * n) / (n - 1)));
    case 'scaled':
      return machine.fused ? f(f(x - mean()) * f(n / (n - 1))) : by(f(f(x - mean()) * n), n - 1);
    case 'sum':
      return by(f((machine.fused ? n * x : f(n * x)) - machine.sum(values)), n - 1);
    case 'others':
      return f(x - meanOf(others, machine.sum, machine));
    case 'others-of-sum':
      return f(x - by(f(machine.sum(values) - x), n - 1));
    case 'others-of-mean':
      return f(x - by(f(f(mean() * n) - x), n - 1));
    case 'share':
      return by(f(x - mean()), f(1 - f(1 / n)));
  }
}

function hgpo32(batch: Batch, machine: Machine): Float64Array {
  const { historyLength, mode, epsilon, lengthWeightAlpha, baseGroup, deviation } = batch.estimator
    .params as HgpoParameters;
  const divided = mode === 'mean_std_norm';
  const items = Array.from({ length: batch.rows }, (): [number, number][] => []);
  if (baseGroup) {
    const base = episode(batch, { divided, population: false, epsilon }, machine);
    base.forEach((a, row) => {
      items[row]!.push([1, overTokens(a, batch.responseLength?.[row] ?? 1, machine)]);
    });
  }
  const history = histories(batch);
  for (let k = 0; k <= historyLength; k++) {
    const key = (row: number): string | undefined =>
      history[row]!.length > k ? `${batch.group[row]}|${history[row]!.slice(-k - 1).join()}` : undefined;
    for (const members of gather(batch.rows, key)) {
      if (members.length === 1) continue;
      const how = { divided, population: deviation !== 'sample', epsilon };
      const own = normalise(
        members.map((row) => batch.reportedStepReward![row]!),
        how,
        machine,
      );
      members.forEach((row, i) => {
        items[row]!.push([(k + 2) ** lengthWeightAlpha, own[i]!]);
      });
    }
  }
  return Float64Array.from(items, (row) => aggregate(row, epsilon, machine));
}

function overTokens(a: number, tokens: number, machine: Machine): number {
  const f = machine.round;
  return tokens === 0 ? 0 : f(machine.sum(new Array<number>(tokens).fill(a)) / tokens);
}

function aggregate(items: readonly [number, number][], epsilon: number, machine: Machine): number {
  const f = machine.round;
  const kept = items.filter(([, a]) => a !== 0);
  const round = machine.wideWeights ? (x: number): number => x : f;
  const total = round(kept.reduce((sum, [w]) => round(sum + round(w)), 0) + round(epsilon));
  return f(kept.reduce((sum, [w, a]) => round(sum + round(round(round(w) / total) * a)), 0));
}

/** For each row the observations of its trajectory up to it, in batch order. */
function histories(batch: Batch): number[][] {
  const sofar = new Map<number, number[]>();
  return Array.from(batch.trajectory, (t, row) => {
    const history = [...(sofar.get(t) ?? []), batch.observation![row]!];
    sofar.set(t, history);
    return history;
  });
}
