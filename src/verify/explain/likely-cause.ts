/**
 * Why rows are wrong: other estimators and variants are tried on the same inputs, and the one that gives what was
 * reported is named. A guess that is checked on every wrong row, not an outcome.
 */

import { type AnyParameters, completeParameters } from '../../kernel/estimators/parameters.ts';
import { type EstimatorName, estimatorNames, estimatorOf } from '../../kernel/estimators/registry.ts';
import { type Batch, isPerToken, reportedValues } from '../format/batch.ts';
import { BatchFormatError } from '../format/format-error.ts';
import { wholeGroups } from '../provenance/whole-groups.ts';
import { type Estimate, type EstimatorOverrides, estimate } from './estimate.ts';

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
 * token, `wrongRows` are tokens.
 */
export function findLikelyCause(batch: Batch, wrongRows: readonly number[]): LikelyCause | undefined {
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
    return reported.length <= MAX_CAUSE_TOKENS ? bestVariant(batch, reported, wrongRows) : undefined;
  if (batch.rows <= MAX_CAUSE_ROWS) return bestVariant(batch, reported, wrongRows);
  const part = wholeGroups(batch, wrongRows, MAX_CAUSE_ROWS);
  if (part?.batch.reportedAdvantage === undefined) return undefined;
  const wrong = new Set(wrongRows);
  const among = [...part.rows.keys()].filter((row) => wrong.has(part.rows[row]!));
  return bestVariant(part.batch, part.batch.reportedAdvantage, among);
}

function bestVariant(
  batch: Batch,
  reported: Float64Array,
  wrongRows: readonly number[],
): LikelyCause | undefined {
  const own = evaluate(batch, {});
  if (own === undefined) return undefined;
  let best: LikelyCause | undefined;
  for (const variant of variantsOf(batch)) {
    const other = evaluate(batch, variant.overrides);
    if (other === undefined) continue;
    const share = wrongRows.filter((row) => explains(row, other, own, reported)).length / wrongRows.length;
    if (share < MIN_SHARE || share <= (best?.share ?? 0)) continue;
    best = { text: variant.text, share, fingerprint: other.fingerprint };
    if (share === 1) break;
  }
  return best;
}

/**
 * True if the variant gives the reported value and is nearer to it than the stated estimator: a variant that changes
 * nothing for this estimator or this batch is never nearer.
 */
function explains(row: number, variant: Estimate, own: Estimate, reported: Float64Array): boolean {
  const value = valuesOf(variant)[row]!;
  const off = Math.abs(value - reported[row]!);
  const ownOff = Math.abs(valuesOf(own)[row]! - reported[row]!);
  return off <= CLOSE * Math.max(Math.abs(value), 0.01) && !(off >= ownOff);
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
    ...estimatorNames()
      .filter((other) => other !== name && hasTokens(other) === hasTokens(name))
      .map((other) => ({ text: `another estimator: ${other}`, overrides: { name: other } })),
    { text: 'returns without discount', overrides: { gamma: 1 } },
    { text: 'returns without penalty', overrides: { invalidActionPenalty: 0 } },
  ];
}

/** True if the estimator of this name has one advantage per token. */
function hasTokens(name: EstimatorName): boolean {
  const { parameters, uses } = estimatorOf(name);
  return uses(completeParameters(parameters) as AnyParameters).tokens !== undefined;
}
