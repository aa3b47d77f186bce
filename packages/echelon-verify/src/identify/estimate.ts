import { returnsFor } from '../bounds/return-bounds.ts';
import type { Batch, BatchEstimator, TokenColumns } from '../format/batch.ts';
import { missingColumn, stepColumns, usesOf } from '../format/batch.ts';
import { evaluate } from '../kernel/estimators/evaluate.ts';
import { fingerprint } from '../kernel/estimators/fingerprint.ts';
import type { AnyParameters, ParameterValue } from '../kernel/estimators/parameters.ts';
import { changeParameters, completeParameters, isAllowed } from '../kernel/estimators/parameters.ts';
import type { EstimatorName } from '../kernel/estimators/registry.ts';
import { estimatorOf } from '../kernel/estimators/registry.ts';
import { perToken, type TokenColumnName } from '../kernel/stages/token-sequences.ts';

/** Another estimator to put in the place of the batch's own. What is omitted is as the batch states it. */
export interface EstimatorOverrides extends Partial<Pick<BatchEstimator, 'gamma' | 'invalidActionPenalty'>> {
  readonly name?: EstimatorName;
  /** Parameters to change; those that the estimator does not have are ignored. */
  readonly params?: Readonly<Record<string, ParameterValue | undefined>>;
}

/** A batch's advantages by one estimator. */
export interface Estimate {
  readonly estimator: EstimatorName;
  readonly fingerprint: string;
  /** One per row, float64: the mean over the tokens of its mask if there is one per token. */
  readonly advantage: Float64Array;
  /** One per token of the batch, of an estimator that has one per token. */
  readonly tokenAdvantage?: Float64Array;
}

/**
 * Estimates a recorded batch again, with its own estimator or another. The step returns are those that the
 * trainer reported, unless gamma or the penalty is overridden or it reported none: then they are computed from
 * the rewards. Throws a BatchFormatError that names the column the estimator needs and the batch does not have,
 * and a RangeError for a history length out of range.
 */
export function estimate(batch: Batch, overrides: EstimatorOverrides = {}): Estimate {
  const name = overrides.name ?? batch.estimator.name;
  const estimator = estimatorOf(name);
  const stated = paramsFor(name, batch.estimator);
  const params = changeParameters(estimator.parameters, stated, overrides.params ?? {});
  const steps = estimator.uses(params).observation ? stepColumns(batch) : anyObservation(batch);
  const values = evaluate(
    estimator,
    {
      steps,
      stepReturn: () => returnsOf(batch, { ...overrides, name, params }),
      score: () => scoresOf(batch),
      responseLength: () => columnOf(batch, 'responseLength'),
      rewards: () => columnOf(batch, 'rewards'),
      environment: () => ({ ...batch, reward: columnOf(batch, 'reward') }),
      tokens: () => {
        const { offset } = columnOf(batch, 'tokens');
        return {
          offset,
          mask: tokenColumnOf(batch, 'mask'),
          group: batch.group,
          column: (name) =>
            name === 'rewardBaseline' ? perToken(offset, columnOf(batch, name)) : tokenColumnOf(batch, name),
        };
      },
    },
    params,
  );
  const about = { estimator: name, fingerprint: fingerprint(name, params) };
  if (estimator.uses(params).tokens === undefined) return { ...about, advantage: values };
  return { ...about, advantage: tokenMeans(batch, values), tokenAdvantage: values };
}

function tokenMeans(batch: Batch, values: Float64Array): Float64Array {
  const { offset } = columnOf(batch, 'tokens');
  const mask = tokenColumnOf(batch, 'mask');
  return Float64Array.from({ length: batch.rows }, (_, row) => {
    let sum = 0;
    let count = 0;
    for (let t = offset[row]!; t < offset[row + 1]!; t++) {
      if (mask[t] === 0) continue;
      sum += values[t]!;
      count++;
    }
    return count === 0 ? 0 : sum / count;
  });
}

/** The parameters of an estimator as far as the batch states them, for its own or another; the rest as in the recipe. */
function paramsFor(name: EstimatorName, stated: BatchEstimator): AnyParameters {
  if (name === stated.name) return stated.params;
  const known: Record<string, ParameterValue> = { ...stated.others, ...stated.params };
  for (const [key, { alias }] of Object.entries(estimatorOf(stated.name).parameters)) {
    if (alias !== undefined) known[alias] = known[key]!;
  }
  // The deviation belongs to the estimator that it was stated for.
  delete known.deviation;
  const { parameters } = estimatorOf(name);
  const shared = Object.entries(parameters)
    .map(([key, rule]) => [key, known[key] ?? known[rule.alias ?? key], rule] as const)
    .filter(([, value, rule]) => isAllowed(rule, value))
    .map(([key, value]) => [key, value]);
  return completeParameters(parameters, Object.fromEntries(shared)) as AnyParameters;
}

/** The step returns that an estimator starts from: reported if they can be, else computed. */
export function returnsOf(
  batch: Batch,
  overrides: Partial<Pick<BatchEstimator, 'name' | 'gamma' | 'invalidActionPenalty'>> & {
    readonly params?: AnyParameters;
  } = {},
): Float64Array {
  const stated = batch.estimator;
  const other = { ...stated, ...overrides } as BatchEstimator;
  const isOwn =
    other.gamma === stated.gamma &&
    other.invalidActionPenalty === stated.invalidActionPenalty &&
    JSON.stringify(usesOf(other).goalReturns) === JSON.stringify(usesOf(stated).goalReturns);
  if (isOwn && batch.reportedStepReward !== undefined) return batch.reportedStepReward;
  const computed = returnsFor(batch, other);
  if (computed !== undefined) return computed;
  const source = usesOf(other).nextObservation === true ? 'nextObservation' : 'reward';
  throw missingColumn(batch, isOwn ? `reported.stepReward or ${source}` : source);
}

/** How two columns of advantages differ. */
export interface Difference {
  readonly fingerprint: string;
  readonly estimator: EstimatorName;
  /** Rows compared: those in which both are numbers. */
  readonly rows: number;
  readonly largest: number;
  /** The row of the largest difference; -1 if no row was compared. */
  readonly largestRow: number;
  readonly meanAbsolute: number;
  /** Pearson's correlation; NaN if one column is constant. */
  readonly correlation: number;
  /** Rows in which one is positive and the other negative. */
  readonly signFlips: number;
  /** Rows in which exactly one of the two is 0. */
  readonly zeroInOne: number;
}

/** A batch by several estimators, each against the batch's own. */
export interface Comparison {
  readonly batch: string;
  readonly rows: number;
  /** What everything is compared with: the batch's own estimator, in float64. */
  readonly reference: string;
  readonly differences: readonly Difference[];
}

/** Compares the estimators of `names` with the batch's own, row by row. Errors as in {@link estimate}. */
export function compare(batch: Batch, names: readonly EstimatorName[]): Comparison {
  const reference = estimate(batch);
  const differences = names.map((name) => {
    const other = estimate(batch, { name });
    return {
      fingerprint: other.fingerprint,
      estimator: name,
      ...difference(reference.advantage, other.advantage),
    };
  });
  return { batch: batch.name, rows: batch.rows, reference: reference.fingerprint, differences };
}

/** Row by row; rows in which one of the two is not finite are omitted. */
export function difference(
  reference: Float64Array,
  other: Float64Array,
): Omit<Difference, 'fingerprint' | 'estimator'> {
  let rows = 0;
  let largest = 0;
  let largestRow = -1;
  let total = 0;
  let signFlips = 0;
  let zeroInOne = 0;
  for (let row = 0; row < reference.length; row++) {
    const a = reference[row]!;
    const b = other[row]!;
    const off = Math.abs(a - b);
    if (!Number.isFinite(off)) continue;
    rows++;
    total += off;
    if (largestRow === -1 || off > largest) {
      largest = off;
      largestRow = row;
    }
    if (Math.sign(a) * Math.sign(b) < 0) signFlips++;
    if ((a === 0) !== (b === 0)) zeroInOne++;
  }
  const meanAbsolute = rows === 0 ? 0 : total / rows;
  return {
    rows,
    largest,
    largestRow,
    meanAbsolute,
    correlation: correlate(reference, other),
    signFlips,
    zeroInOne,
  };
}

function correlate(x: Float64Array, y: Float64Array): number {
  const used: number[] = [];
  for (let row = 0; row < x.length; row++) if (Number.isFinite(x[row]! - y[row]!)) used.push(row);
  const meanOf = (column: Float64Array) => used.reduce((sum, row) => sum + column[row]!, 0) / used.length;
  const mx = meanOf(x);
  const my = meanOf(y);
  let xy = 0;
  let xx = 0;
  let yy = 0;
  for (const row of used) {
    xy += (x[row]! - mx) * (y[row]! - my);
    xx += (x[row]! - mx) ** 2;
    yy += (y[row]! - my) ** 2;
  }
  return xx === 0 || yy === 0 ? Number.NaN : xy / Math.sqrt(xx * yy);
}

function scoresOf(batch: Batch): Float64Array {
  return columnOf(batch, 'tokenLevelRewardSum');
}

function columnOf<
  K extends 'reward' | 'tokenLevelRewardSum' | 'responseLength' | 'rewards' | 'tokens' | 'rewardBaseline',
>(batch: Batch, key: K): NonNullable<Batch[K]> {
  const column = batch[key];
  if (column === undefined || column === null) throw missingColumn(batch, key);
  return column;
}

function tokenColumnOf<K extends 'mask' | TokenColumnName>(
  batch: Batch,
  key: K,
): NonNullable<TokenColumns[K]> {
  const column = batch.tokens?.[key];
  if (column === undefined) throw missingColumn(batch, `tokens.${key}`);
  return column;
}

/** An estimator that looks at groups alone does not read the observations: any column will do. */
function anyObservation(batch: Batch): ReturnType<typeof stepColumns> {
  const { rows, group, trajectory } = batch;
  return { rows, group, trajectory, observation: batch.observation ?? group };
}
