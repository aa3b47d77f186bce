/**
 * Which known arithmetic explains reported advantages, how far the others are, and what would tell the fitting ones apart.
 * A fit is evidence: other formulas may fit too, so that nothing here is ever a proof.
 */

import type { HalfPrecision } from '../arithmetic/arithmetic.ts';
import { present } from '../base/present.ts';
import { type Inputs, mismatchedReturns } from '../bounds/inputs.ts';
import { judgeRow } from '../bounds/judged-row.ts';
import { createJudge, isClose } from '../bounds/outcomes.ts';
import {
  type Batch,
  type BatchEstimator,
  batchFingerprint,
  estimatorFrom,
  isPerToken,
  usesOf,
} from '../format/batch.ts';
import { progressed } from '../format/reading.ts';
import { looksRounded, statesHalfPrecision } from '../provenance/half-precision.ts';
import type { RowOutcome } from '../report/report.ts';
import { KNOWN_FORMS, type KnownForm } from './fingerprints.ts';
import { type Difference, tellApart } from './probes.ts';

/** One arithmetic that was tried. */
export interface Candidate {
  readonly fingerprint: string;
  readonly estimator: BatchEstimator;
  /** The trainers' forms with this arithmetic, those with most users first. */
  readonly forms: readonly KnownForm[];
  /** Rows whose reported value it can give, of all rows that it can judge. */
  readonly explained: number;
  readonly rows: number;
  /** The row whose reported value is farthest from its true value. */
  readonly farthest: FarRow | undefined;
  /** Mean of |reported − true| / max(|true|, 0.01). */
  readonly distance: number;
}

/** A row with the value that was reported and the value that the candidate gives. */
export interface FarRow {
  readonly batch: string;
  readonly row: number;
  readonly reported: number;
  readonly value: number;
}

/** What identification found. */
export interface Identification {
  readonly rows: number;
  /** Candidates that explain every row, the nearest first. */
  readonly fits: readonly Candidate[];
  /** The other candidates, those that explain most rows first. */
  readonly others: readonly Candidate[];
  /** Forms that could not be tried, since the batch lacks columns. */
  readonly untried: readonly { readonly forms: readonly KnownForm[]; readonly missing: string }[];
  /** Nothing fits, and all advantages or rewards look rounded to this format, which the batches do not state. */
  readonly looksRounded?: HalfPrecision;
  /** For each fit after the first: rows on which it and the first would differ. */
  readonly differences: readonly Difference[];
}

/**
 * Tries forms, by default every known one, on batches of one trainer. Rows without a reported advantage are ignored.
 * `tolerance` is what the reported values lost when they were printed with few decimals.
 */
export function identify(
  batches: readonly Batch[],
  tolerance = 0,
  forms: readonly KnownForm[] = KNOWN_FORMS,
): Identification {
  const tried: Candidate[] = [];
  const untried: { forms: KnownForm[]; missing: string }[] = [];
  for (const [estimator, equal] of distinctEstimators(batches, forms)) {
    const result = tryOut({ batches, tolerance }, estimator, equal);
    progressed();
    if ('missing' in result) untried.push({ forms: equal, missing: result.missing });
    else if (result.rows > 0) tried.push(result);
  }
  const fits = tried
    .filter(({ explained, rows }) => explained === rows)
    .sort((a, b) => a.distance - b.distance);
  const others = tried
    .filter(({ explained, rows }) => explained < rows)
    .sort((a, b) => b.explained / b.rows - a.explained / a.rows || a.distance - b.distance);
  const rows = Math.max(0, ...tried.map((candidate) => candidate.rows));
  const [first, ...rest] = fits;
  const differences = first === undefined ? [] : rest.map((fit) => tellApart(first.estimator, fit.estimator));
  const looks = fits.length === 0 ? unstatedPrecision(batches) : undefined;
  return { rows, fits, others, untried, ...present({ looksRounded: looks }), differences };
}

/** The format of 16 bits that a column of every batch looks rounded to, and that none states. */
function unstatedPrecision(batches: readonly Batch[]): HalfPrecision | undefined {
  const formats = batches.map((batch) => {
    if (statesHalfPrecision(batch)) return undefined;
    const { reportedAdvantage, tokenLevelRewardSum } = batch;
    const columns = [reportedAdvantage, tokenLevelRewardSum].filter((column) => column !== undefined);
    return columns.map(looksRounded).find((format) => format !== undefined);
  });
  return formats.every((format) => format !== undefined) ? formats.at(-1) : undefined;
}

/**
 * The estimators of forms, one for each fingerprint; without a missing score the rules for them are all the same. Without
 * tokens, estimators over tokens are ignored.
 */
function distinctEstimators(
  batches: readonly Batch[],
  forms: readonly KnownForm[],
): [BatchEstimator, KnownForm[]][] {
  const complete = batches.every(({ tokenLevelRewardSum, rewards }) =>
    [tokenLevelRewardSum, ...(rewards ?? []).map(({ value }) => value)].every(
      (column) => column === undefined || !column.some(Number.isNaN),
    ),
  );
  const found = new Map<string, [BatchEstimator, KnownForm[]]>();
  const haveTokens = batches.some(({ tokens }) => tokens !== undefined);
  for (const form of forms) {
    if (!haveTokens && isPerToken({ estimator: estimatorOfForm(form) })) continue;
    const { missing: _ignored, ...params } = form.params;
    const estimator = estimatorOfForm({ ...form, params: complete ? params : form.params });
    const key = batchFingerprint(estimator);
    const known = found.get(key);
    if (known === undefined) found.set(key, [estimator, [form]]);
    else known[1].push(form);
  }
  return [...found.values()];
}

/** The complete estimator of a form. */
export function estimatorOfForm({
  estimator,
  params,
}: Pick<KnownForm, 'estimator' | 'params'>): BatchEstimator {
  return estimatorFrom(estimator, params);
}

function tryOut(
  { batches, tolerance }: { readonly batches: readonly Batch[]; readonly tolerance: number },
  estimator: BatchEstimator,
  forms: readonly KnownForm[],
): Candidate | { readonly missing: string } {
  let rows = 0;
  let explained = 0;
  let distance = 0;
  let farthest: (FarRow & { off: number }) | undefined;
  for (const batch of batches) {
    const { gamma, invalidActionPenalty, precision } = batch.estimator;
    const own: Batch = { ...batch, estimator: { ...estimator, gamma, invalidActionPenalty, precision } };
    const judge = createJudge(own);
    if ('missing' in judge) return { missing: judge.missing.join(', ') };
    if ('unbounded' in judge) continue;
    const otherReturns = rowsOfOtherReturns(own, judge.model.inputs);
    for (let row = 0; row < batch.rows; row++) {
      const { at, outcome, reported } = judgeRow(own, judge, row) ?? {};
      if (at === undefined || reported === undefined) continue;
      const value = judge.model.truth[at]!;
      // That a NaN gives a NaN tells no formula from another.
      if (Number.isNaN(reported) && !Number.isFinite(value)) continue;
      const off = Object.is(reported, value) ? 0 : Math.abs(reported - value);
      rows++;
      if (!otherReturns.has(row) && (off <= tolerance || explains(outcome, reported, value))) explained++;
      const share = off / Math.max(Math.abs(value), 0.01);
      // NaN on one side only is as far as it gets.
      distance += Number.isFinite(share) ? Math.min(share, MAX_SHARE) : MAX_SHARE;
      if (off > (farthest?.off ?? 0)) farthest = { batch: batch.name, row, reported, value, off };
    }
  }
  const fingerprint = batchFingerprint(estimator, batches[0]?.provenance);
  const far = farthest && {
    batch: farthest.batch,
    row: farthest.row,
    reported: farthest.reported,
    value: farthest.value,
  };
  return {
    fingerprint,
    estimator,
    forms,
    explained,
    rows,
    farthest: far,
    distance: rows === 0 ? 0 : distance / rows,
  };
}

/** Rows whose reported step return is not that of the tried estimator. Its advantage may fit by chance of the returns alone. */
function rowsOfOtherReturns(batch: Batch, inputs: Inputs): ReadonlySet<number> {
  const { reportedStepReward: reported } = batch;
  const isGraph = usesOf(batch.estimator).nextObservation === true;
  if (!isGraph || reported === undefined || inputs.recomputed === undefined) return new Set();
  return new Set(mismatchedReturns(reported, inputs.recomputed, inputs.arithmetic));
}

const MAX_SHARE = 1e6;

/** A row that nothing can be said of counts if its value is the true one, as people read numbers. */
function explains(outcome: RowOutcome | undefined, reported: number, value: number): boolean {
  return outcome === 'unverifiable' ? isClose(reported, value) : outcome !== 'wrong';
}

/** Rows per group that are tried if a table has no groups: divisors of its rows. */
const MAX_BLOCK = 256;

/** A batch without groups, identified in blocks of each size that divides its rows: the size that explains most rows. */
export function identifyBlocks(
  batch: Batch,
  tolerance = 0,
): { readonly blocks: number; readonly found: Identification } | undefined {
  let best: { blocks: number; found: Identification } | undefined;
  for (let blocks = 2; blocks <= Math.min(batch.rows, MAX_BLOCK); blocks++) {
    if (batch.rows % blocks !== 0) continue;
    const found = identify([inBlocks(batch, blocks)], tolerance);
    if (best === undefined || isBetter(found, best.found)) best = { blocks, found };
  }
  return best;
}

function isBetter(a: Identification, b: Identification): boolean {
  const [own] = [...a.fits, ...a.others];
  const [other] = [...b.fits, ...b.others];
  if (own === undefined || other === undefined) return other === undefined && own !== undefined;
  const gain = own.explained / own.rows - other.explained / other.rows;
  return gain > 0 || (gain === 0 && own.distance < other.distance);
}

/** The batch with groups of `size` rows by position. */
export function inBlocks(batch: Batch, size: number): Batch {
  const group = Int32Array.from({ length: batch.rows }, (_, row) => Math.floor(row / size));
  const groupNames = Array.from({ length: Math.ceil(batch.rows / size) }, (_, block) => `block ${block}`);
  return { ...batch, group, groupNames };
}

/** Decimals of numbers that were printed rounded. */
const ROUNDED: readonly number[] = [3, 4, 5, 6];

/**
 * What printing took from values if all have 3 to 6 decimals: half a unit of the last, and what float32 adds. 0 for numbers
 * in full: those of float32 have more decimals, unless they are exact.
 */
export function printedTolerance(values: readonly number[]): number {
  const finite = values.filter(Number.isFinite);
  const isRounded = (decimals: number) => finite.every((x) => Number(x.toFixed(decimals)) === x);
  const decimals = ROUNDED.find(isRounded);
  if (decimals === undefined || finite.every((x) => Math.fround(x) === x)) return 0;
  const largest = finite.reduce((most, x) => Math.max(most, Math.abs(x)), 1);
  return 0.5 * 10 ** -decimals + 2 ** -23 * largest;
}

/** The result in one line: inferred, and with how many rivals. */
export function summaryOf({ fits, others }: Identification, blocks?: number): string {
  const [first] = fits;
  const over = blocks === undefined ? '' : `, blocks of ${blocks}`;
  if (first !== undefined) {
    const variants = fits.length === 1 ? '1 variant fits' : `${fits.length} variants fit`;
    return `consistent with ${first.fingerprint}${over}, inferred; ${variants}`;
  }
  const [nearest] = others;
  if (nearest === undefined) return 'no row has a reward and a reported advantage';
  const share = `${nearest.explained} of ${nearest.rows} rows`;
  return `no known form explains all rows; the nearest is ${nearest.fingerprint}${over}: ${share}`;
}
