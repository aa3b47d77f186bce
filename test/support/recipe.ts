/**
 * The recipe's formulas evaluated in float32 (or float64), each operation rounded, in a chosen order of summation:
 * what a trainer on some machine may report. Independent of src/verify, so that its bounds can be tried against it.
 */

import type { Batch } from '../../src/verify/batch.ts';

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

/** Choices that a machine makes: how it adds, whether it fuses, in what precision it takes the deviation. */
export interface Machine {
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

/** A machine drawn by chance; it computes in float32 unless told otherwise. */
export function randomMachine(random: () => number, round: Rounding = Math.fround): Machine {
  const sums = summations(round, random);
  const pick = (): Summation => sums[Math.floor(random() * sums.length)]!;
  return {
    round,
    sum: pick(),
    deviationSum: pick(),
    fused: random() < 0.5,
    wideDeviation: random() < 0.5,
    wideWeights: random() < 0.5,
  };
}

function meanOf(values: readonly number[], sum: Summation, f: Rounding): number {
  return f(sum(values) / values.length);
}

function deviationOf(values: readonly number[], divisor: number, machine: Machine): number {
  const f = machine.round;
  const mean = meanOf(values, machine.deviationSum, machine.round);
  if (machine.wideDeviation) {
    return f(Math.sqrt(values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / divisor));
  }
  const offs = values.map((x) => f(x - mean));
  if (machine.fused) return f(Math.sqrt(f(offs.reduce((sum, d) => f(d * d + sum), 0) / divisor)));
  const squares = offs.map((d) => f(d * d));
  return f(Math.sqrt(f(machine.deviationSum(squares) / divisor)));
}

interface Normalisation {
  readonly divided: boolean;
  readonly population: boolean;
  readonly epsilon: number;
}

function normalise(values: readonly number[], how: Normalisation, machine: Machine): number[] {
  const f = machine.round;
  const mean = meanOf(values, machine.sum, machine.round);
  if (!how.divided) return values.map((x) => f(x - mean));
  const divisor = how.population ? values.length : values.length - 1;
  const by = f(deviationOf(values, divisor, machine) + f(how.epsilon));
  return values.map((x) => f(f(x - mean) / by));
}

/** Rows by key, in batch order. */
function gather(rows: number, key: (row: number) => string | undefined): number[][] {
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
export function advantagesOn(batch: Batch, machine: Machine): Float64Array {
  const f = machine.round;
  const { name, normalizeByStd, mode, epsilon, deviation } = batch.estimator;
  const sample = { divided: mode === 'mean_std_norm', population: deviation === 'population', epsilon };
  if (name === 'hgpo') return hgpo32(batch, machine);
  if (name === 'grpo') return episode(batch, { ...sample, divided: normalizeByStd }, machine);
  if (name === 'rloo') return leaveOneOut(batch, machine);
  const whole = episode(batch, sample, machine);
  const step = stateTerm(batch, sample, machine);
  const weight = f(batch.estimator.stepAdvantageWeight);
  return whole.map((a, row) => f(a + (machine.fused ? weight * step[row]! : f(weight * step[row]!))));
}

function episode(batch: Batch, how: Normalisation, machine: Machine): Float64Array {
  const f = machine.round;
  const score = batch.tokenLevelRewardSum!;
  const advantage = new Float64Array(batch.rows);
  for (const members of gather(batch.rows, (row) => String(batch.group[row]))) {
    const values = members.map((row) => score[row]!);
    const single = (x: number): number => (how.divided ? f(x / f(1 + f(how.epsilon))) : x);
    const own = values.length === 1 ? values.map(single) : normalise(values, how, machine);
    members.forEach((row, i) => {
      advantage[row] = own[i]!;
    });
  }
  return advantage;
}

function stateTerm(batch: Batch, how: Normalisation, machine: Machine): Float64Array {
  const advantage = new Float64Array(batch.rows);
  for (const members of gather(batch.rows, (row) => `${batch.group[row]}/${batch.observation![row]}`)) {
    if (members.length === 1) continue;
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

function leaveOneOut(batch: Batch, machine: Machine): Float64Array {
  const f = machine.round;
  const score = batch.tokenLevelRewardSum!;
  const advantage = new Float64Array(batch.rows);
  for (const members of gather(batch.rows, (row) => String(batch.group[row]))) {
    const n = members.length;
    const mean = meanOf(
      members.map((row) => score[row]!),
      machine.sum,
      f,
    );
    for (const row of members) {
      const x = score[row]!;
      const times = (v: number): number => f(f(v * n) / (n - 1));
      advantage[row] =
        n === 1 ? x : machine.fused ? f(times(x) - f(mean * f(n / (n - 1)))) : f(times(x) - times(mean));
    }
  }
  return advantage;
}

function hgpo32(batch: Batch, machine: Machine): Float64Array {
  const { historyLength, mode, epsilon, lengthWeightAlpha, baseGroup, deviation } = batch.estimator;
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
