/**
 * Why rows are wrong: other estimators and variants are tried on the same inputs, and the one that gives what was
 * reported is named. A guess that is checked on every wrong row, not an outcome.
 */

import { type Batch, isPerToken, reportedValues } from '../format/batch.ts';
import { BatchFormatError } from '../format/format-error.ts';
import { progressed } from '../format/reading.ts';
import { type Estimate, type EstimatorOverrides, estimate } from '../identify/estimate.ts';
import { identify } from '../identify/identify.ts';
import { type AnyParameters, completeParameters } from '../kernel/estimators/parameters.ts';
import { type EstimatorName, estimatorNames, estimatorOf } from '../kernel/estimators/registry.ts';
import { wholeGroups } from '../provenance/whole-groups.ts';
import { wholeBatchCauses } from './batch-causes.ts';
import { solvedCauses, VALUE_CAUSES } from './value-causes.ts';

export interface LikelyCause {
  /** What was done instead, in words. */
  readonly text: string;
  /** Share of the wrong rows whose reported value it gives, 0 to 1. */
  readonly share: number;
  readonly fingerprint: string;
}

/** A variant must give this share of the wrong rows to be named. */
const MIN_SHARE = 0.9;

/** Agreement of a reported value with a variant's. */
const CLOSE = 3e-5;

interface Variant {
  readonly text: string;
  readonly overrides: EstimatorOverrides;
}

/** Rows on which variants are tried at most: of a larger batch, the first groups with wrong rows. */
export const MAX_CAUSE_ROWS = 50_000;

/** Tokens above which no variant is tried: their statistics need the whole batch. */
const MAX_CAUSE_TOKENS = 2 ** 21;

/**
 * The variant that gives the wrong rows' values, or undefined if none does. In a batch above
 * {@link MAX_CAUSE_ROWS} rows it is looked for in as many whole groups as stay below. If the estimator has one advantage per
 * token, `wrongRows` are tokens. `previous` is the batch of the step before, for rewards that are stale.
 */
export function findLikelyCause(
  batch: Batch,
  wrongRows: readonly number[],
  previous?: Batch,
): LikelyCause | undefined {
  const reported = reportedValues(batch);
  if (reported === undefined || wrongRows.length === 0) return undefined;
  if (wrongRows.every((row) => reported[row] === 0)) {
    return {
      text: 'all of them are reported as 0: the advantages were masked or never computed',
      share: 1,
      fingerprint: '',
    };
  }
  if (isPerToken(batch))
    return reported.length <= MAX_CAUSE_TOKENS ? bestVariant({ batch, reported, wrongRows }) : undefined;
  if (batch.rows <= MAX_CAUSE_ROWS) return bestVariant({ batch, reported, wrongRows, previous });
  const part = wholeGroups(batch, wrongRows, MAX_CAUSE_ROWS);
  if (part?.batch.reportedAdvantage === undefined) return undefined;
  const wrong = new Set(wrongRows);
  const among = [...part.rows.keys()].filter((row) => wrong.has(part.rows[row]!));
  return bestVariant({ batch: part.batch, reported: part.batch.reportedAdvantage, wrongRows: among });
}

/** Where a cause is looked for. `wrongRows` are rows of `reported`. */
interface Wrong {
  readonly batch: Batch;
  readonly reported: Float64Array;
  readonly wrongRows: readonly number[];
  readonly previous?: Batch | undefined;
}

/** As {@link findLikelyCause} of a batch with an advantage per row, but without the known forms. */
export function changeOf(batch: Batch, wrongRows: readonly number[]): LikelyCause | undefined {
  const own = evaluate(batch, {});
  const reported = reportedValues(batch);
  if (own === undefined || reported === undefined || wrongRows.length === 0) return undefined;
  return bestChange({ batch, reported, wrongRows }, own);
}

function bestVariant(wrong: Wrong): LikelyCause | undefined {
  const own = evaluate(wrong.batch, {});
  if (own === undefined) return undefined;
  return bestChange(wrong, own) ?? knownForm(wrong, valuesOf(own));
}

/** A variant of the formula, or a fault. */
function bestChange(wrong: Wrong, own: Estimate): LikelyCause | undefined {
  const { batch, reported, wrongRows } = wrong;
  let best: LikelyCause | undefined;
  for (const variant of variantsOf(batch)) {
    const other = evaluate(batch, variant.overrides);
    progressed();
    if (other === undefined) continue;
    const values = valuesOf(other);
    const share = shareOf(wrongRows, (row) => explains(row, values, valuesOf(own), reported));
    if (share < MIN_SHARE || share <= (best?.share ?? 0)) continue;
    best = { text: variant.text, share, fingerprint: other.fingerprint };
    if (share === 1) break;
  }
  if (best?.share === 1) return best;
  const fault = bestFault(wrong, valuesOf(own));
  if (fault !== undefined && fault.share > (best?.share ?? 0)) return fault;
  return best;
}

/** Rows that are wrong at least, for a cause that is no variant of the formula. */
const MIN_FAULTY_ROWS = 3;

/**
 * The fault that gives the wrong rows. Few rewards repeat themselves, so that it must also give the other rows of the groups
 * with wrong ones.
 */
function bestFault(
  { batch, reported, wrongRows, previous }: Wrong,
  own: Float64Array,
): LikelyCause | undefined {
  if (wrongRows.length < MIN_FAULTY_ROWS) return undefined;
  const affected = rowsOfGroups(batch, reported.length, wrongRows);
  const estimated = (changed: Batch) => {
    const found = evaluate(changed, {});
    return found && valuesOf(found);
  };
  let best: LikelyCause | undefined;
  const input = { batch, previous, own, reported, estimated };
  const tried = VALUE_CAUSES.map(({ text, values }) => ({ text, values: values(input) }));
  for (const { text, values: other } of [...tried, ...wholeBatchCauses(input), ...solvedCauses(input)]) {
    if (other === undefined) continue;
    const share = shareOf(wrongRows, (row) => explains(row, other, own, reported));
    const overall = shareOf(affected, (row) => isNear(other[row]!, reported[row]!));
    if (Math.min(share, overall) < MIN_SHARE || share <= (best?.share ?? 0)) continue;
    best = { text, share, fingerprint: '' };
  }
  return best;
}

function shareOf(rows: readonly number[], holds: (row: number) => boolean): number {
  return rows.filter(holds).length / rows.length;
}

/** The rows in groups with a wrong row; of an estimator with values for tokens, the tokens of the mask. */
function rowsOfGroups(batch: Batch, count: number, wrongRows: readonly number[]): number[] {
  const all = Array.from({ length: count }, (_, row) => row);
  if (isPerToken(batch)) return all.filter((token) => batch.tokens?.mask?.[token] !== 0);
  const groups = new Set(wrongRows.map((row) => batch.group[row]));
  return all.filter((row) => groups.has(batch.group[row]));
}

/** Rows on which all known forms are tried at most. */
const MAX_IDENTIFIED_ROWS = 2000;

/** The known form that explains every row, and the wrong ones better than the stated estimator, if most rows are wrong. */
function knownForm({ batch, reported, wrongRows }: Wrong, own: Float64Array): LikelyCause | undefined {
  const withSignal = reported.reduce((count, x) => count + (x === 0 ? 0 : 1), 0);
  const isMost = wrongRows.length >= Math.max(MIN_FAULTY_ROWS, MIN_SHARE * withSignal);
  if (!isMost || isPerToken(batch) || batch.rows > MAX_IDENTIFIED_ROWS) return undefined;
  for (const { estimator, fingerprint } of identify([batch]).fits) {
    const other = evaluate({ ...batch, estimator }, {});
    if (other === undefined) continue;
    const share = shareOf(wrongRows, (row) => explains(row, valuesOf(other), own, reported));
    if (share >= MIN_SHARE) return { text: `these values fit ${fingerprint}`, share, fingerprint };
  }
  return undefined;
}

/**
 * True if the variant gives the reported value and is nearer to it than the stated estimator: a variant that changes
 * nothing for this estimator or this batch is never nearer.
 */
function explains(row: number, variant: Float64Array, own: Float64Array, reported: Float64Array): boolean {
  const value = variant[row]!;
  const off = Math.abs(value - reported[row]!);
  const ownOff = Math.abs(own[row]! - reported[row]!);
  return isNear(value, reported[row]!) && !(off >= ownOff);
}

function isNear(value: number, reported: number): boolean {
  return Math.abs(value - reported) <= CLOSE * Math.max(Math.abs(value), 0.01);
}

function valuesOf({ advantage, tokenAdvantage }: Estimate): Float64Array {
  return tokenAdvantage ?? advantage;
}

/** Undefined if the batch lacks a column that the variant needs. */
function evaluate(batch: Batch, overrides: EstimatorOverrides): Estimate | undefined {
  try {
    return estimate(batch, overrides);
  } catch (error) {
    if (error instanceof BatchFormatError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The estimator's own variants first, then the other estimators, then other returns. */
function variantsOf({ estimator: { name, params } }: Batch): Variant[] {
  return [
    ...estimatorOf(name)
      .variants(params)
      .map(({ text, changes }) => ({ text, overrides: { params: changes } })),
    ...otherChoices(name, params),
    ...estimatorNames()
      .filter((other) => other !== name && hasTokens(other) === hasTokens(name))
      .map((other) => ({ text: `another estimator: ${other}`, overrides: { name: other } })),
    { text: 'returns without discount', overrides: { gamma: 1 } },
    { text: 'returns without penalty', overrides: { invalidActionPenalty: 0 } },
  ];
}

/** Every other choice of each parameter of the estimator, such as its guard against a deviation of 0. */
function otherChoices(name: EstimatorName, params: object): Variant[] {
  return Object.entries(estimatorOf(name).parameters).flatMap(([key, rule]) => {
    if (rule.kind !== 'choice') return [];
    const said = (params as Readonly<Record<string, unknown>>)[key] ?? rule.default;
    return rule.choices
      .filter((choice) => choice !== said)
      .map((choice) => ({
        text: `${key} ${choice} instead of ${said}`,
        overrides: { params: { [key]: choice } } as EstimatorOverrides,
      }));
  });
}

/** True if the estimator of this name has one advantage per token. */
function hasTokens(name: EstimatorName): boolean {
  const { parameters, uses } = estimatorOf(name);
  return uses(completeParameters(parameters) as AnyParameters).tokens !== undefined;
}
