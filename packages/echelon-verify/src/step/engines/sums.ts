/** What the pairs of log-probs show: sums that can be added over the steps of a run, and what single rows and tokens show. */

import type { StepBatch } from '../../format/step-batch.ts';
import { farLogRatio } from './chance.ts';
import { type EnginePairs, enginePairs } from './pairs.ts';

/** A token whose reported log-prob is likely and whose trained one is far less likely. */
const LIKELY = Math.log(0.5);
export const FAR = 3;

/** Sums over the tokens of a step, or of several. Plain JSON. */
export interface EngineSums {
  /** Tokens with two numbers, those that are far apart excluded. */
  tokens: number;
  rows: number;
  /** ρ, ρ − 1 − ln ρ, and the number of ρ > 1.001. */
  ratio: number;
  kl: number;
  above: number;
  /** Log-probs of engine and trainer, their squares and products. */
  engine: number;
  trainer: number;
  engineSquares: number;
  trainerSquares: number;
  products: number;
  /** |ln ρ| as stored and against the tokens before and after, of tokens with two neighbours. */
  inner: number;
  here: number;
  before: number;
  after: number;
  /** How many of them are nearer to the token before or after. */
  nearerBefore: number;
  nearerAfter: number;
  zeros: number;
  longestZeros: number;
  /** Tokens that the engine finds likely and the trainer does not, far ones included. */
  unlikely: number;
  far: number;
  /** Tokens with a log-prob that is NaN or infinite. */
  notFinite: number;
  /** Over rows, for standard errors: squares and products of the sums of a row and its number of tokens. */
  rowRatioSquares: number;
  rowRatioCounts: number;
  rowKlSquares: number;
  rowKlCounts: number;
  rowCountSquares: number;
}

/** A row: its mean of ρ − 1 − ln ρ and the standard error of that mean. */
export interface EngineRow {
  readonly row: number;
  readonly tokens: number;
  readonly kl: number;
  readonly error: number;
}

/** A token, by its place in the step. */
export interface EngineToken {
  readonly row: number;
  /** Position in the row. */
  readonly token: number;
  readonly engine: number;
  readonly trainer: number;
}

/** What one step shows. */
export interface EngineStatistics {
  readonly sums: EngineSums;
  readonly rows: readonly EngineRow[];
  /** Of each kind the first {@link MAX_NAMED} tokens. */
  readonly named: Readonly<Record<'far' | 'unlikely' | 'notFinite', readonly EngineToken[]>>;
  /** Rows with a far token, one that the trainer finds unlikely, or one without a number. */
  readonly rowsOf: Readonly<Record<'far' | 'unlikely' | 'notFinite', readonly number[]>>;
}

const MAX_NAMED = 3;

/** Sums of nothing. */
export const emptyEngineSums = (): EngineSums => ({
  tokens: 0,
  rows: 0,
  ratio: 0,
  kl: 0,
  above: 0,
  engine: 0,
  trainer: 0,
  engineSquares: 0,
  trainerSquares: 0,
  products: 0,
  inner: 0,
  here: 0,
  before: 0,
  after: 0,
  nearerBefore: 0,
  nearerAfter: 0,
  zeros: 0,
  longestZeros: 0,
  unlikely: 0,
  far: 0,
  notFinite: 0,
  rowRatioSquares: 0,
  rowRatioCounts: 0,
  rowKlSquares: 0,
  rowKlCounts: 0,
  rowCountSquares: 0,
});

/** The sums of two lots of tokens together. */
export function addEngineSums(a: EngineSums, b: EngineSums): EngineSums {
  const sums = (Object.keys(a) as (keyof EngineSums)[]).map((key) => [
    key,
    key === 'longestZeros' ? Math.max(a[key], b[key]) : a[key] + b[key],
  ]);
  return Object.fromEntries(sums) as EngineSums;
}

/** The statistics of a step; undefined without both columns or without a token that counts. */
export function engineStatistics(batch: StepBatch): EngineStatistics | undefined {
  const pairs = enginePairs(batch);
  if (pairs === undefined) return undefined;
  const { offset } = batch.tokens;
  let counted = 0;
  for (let token = 0; token < offset[batch.rows]!; token++) if (pairs.counts(token)) counted++;
  if (counted === 0) return undefined;
  const sums = emptyEngineSums();
  const listed = { far: list(), unlikely: list(), notFinite: list() };
  const rows: EngineRow[] = [];
  const limit = farLogRatio(counted);
  for (let row = 0; row < batch.rows; row++) {
    const [start, end] = [offset[row]!, offset[row + 1]!];
    const own = addRow(sums, pairs, { start, end, limit }, (kind, at) => {
      listed[kind].add({ row, token: at - start, engine: pairs.engine[at]!, trainer: pairs.trainer[at]! });
    });
    if (own.tokens > 0) rows.push({ row, ...own });
  }
  const { far, unlikely, notFinite } = listed;
  return {
    sums,
    rows,
    named: { far: far.tokens, unlikely: unlikely.tokens, notFinite: notFinite.tokens },
    rowsOf: { far: far.rows, unlikely: unlikely.rows, notFinite: notFinite.rows },
  };
}

function list() {
  const tokens: EngineToken[] = [];
  const rows: number[] = [];
  return {
    tokens,
    rows,
    add(one: EngineToken) {
      if (tokens.length < MAX_NAMED) tokens.push(one);
      if (rows.at(-1) !== one.row) rows.push(one.row);
    },
  };
}

type Named = (kind: 'far' | 'unlikely' | 'notFinite', token: number) => void;

/** Adds a row. Returns its own mean of ρ − 1 − ln ρ. */
function addRow(
  sums: EngineSums,
  { engine, trainer, counts }: EnginePairs,
  { start, end, limit }: { start: number; end: number; limit: number },
  named: Named,
): Omit<EngineRow, 'row'> {
  const own = { tokens: 0, ratio: 0, kl: 0, squares: 0 };
  let run = 0;
  for (let t = start; t < end; t++) {
    if (!counts(t)) continue;
    const [theirs, ours] = [engine[t]!, trainer[t]!];
    const log = ours - theirs;
    run = theirs === 0 || ours === 0 ? run + 1 : 0;
    sums.zeros += run > 0 ? 1 : 0;
    sums.longestZeros = Math.max(sums.longestZeros, run);
    if (isSingular(sums, { theirs, log, limit }, (kind) => named(kind, t))) continue;
    const ratio = Math.exp(log);
    const kl = ratio - 1 - log;
    own.tokens++;
    own.ratio += ratio;
    own.kl += kl;
    own.squares += kl * kl;
    sums.above += ratio > 1.001 ? 1 : 0;
    addPair(sums, theirs, ours);
    addNeighbours(sums, Math.abs(log), {
      before: Math.abs(ours - (t > start ? engine[t - 1]! : Number.NaN)),
      after: Math.abs(ours - (t + 1 < end ? engine[t + 1]! : Number.NaN)),
    });
  }
  return own.tokens === 0 ? { tokens: 0, kl: 0, error: 0 } : closeRow(sums, own);
}

/** Counts and names a token that stands out. True if it takes no part in the means. */
function isSingular(
  sums: EngineSums,
  { theirs, log, limit }: { theirs: number; log: number; limit: number },
  named: (kind: 'far' | 'unlikely' | 'notFinite') => void,
): boolean {
  if (!Number.isFinite(log)) {
    sums.notFinite++;
    named('notFinite');
    return true;
  }
  if (theirs > LIKELY && log < -FAR && theirs !== 0) {
    sums.unlikely++;
    named('unlikely');
  }
  if (Math.abs(log) <= limit) return false;
  sums.far++;
  named('far');
  return true;
}

function closeRow(
  sums: EngineSums,
  own: { tokens: number; ratio: number; kl: number; squares: number },
): Omit<EngineRow, 'row'> {
  sums.rows++;
  sums.tokens += own.tokens;
  sums.ratio += own.ratio;
  sums.kl += own.kl;
  sums.rowRatioSquares += own.ratio * own.ratio;
  sums.rowRatioCounts += own.ratio * own.tokens;
  sums.rowKlSquares += own.kl * own.kl;
  sums.rowKlCounts += own.kl * own.tokens;
  sums.rowCountSquares += own.tokens * own.tokens;
  const mean = own.kl / own.tokens;
  const variance = Math.max(0, own.squares / own.tokens - mean * mean);
  return { tokens: own.tokens, kl: mean, error: Math.sqrt(variance / own.tokens) };
}

function addPair(sums: EngineSums, engine: number, trainer: number): void {
  sums.engine += engine;
  sums.trainer += trainer;
  sums.engineSquares += engine * engine;
  sums.trainerSquares += trainer * trainer;
  sums.products += engine * trainer;
}

function addNeighbours(
  sums: EngineSums,
  here: number,
  { before, after }: { before: number; after: number },
): void {
  if (!Number.isFinite(before) || !Number.isFinite(after)) return;
  sums.inner++;
  sums.here += here;
  sums.before += before;
  sums.after += after;
  sums.nearerBefore += before < here ? 1 : 0;
  sums.nearerAfter += after < here ? 1 : 0;
}

/** A mean over tokens, and its standard error from the rows: tokens of a row are not independent. */
export function meanOf(sums: EngineSums, key: 'ratio' | 'kl'): { mean: number; error: number } {
  const { tokens, rows, rowCountSquares } = sums;
  const mean = sums[key] / tokens;
  const [squares, products] =
    key === 'ratio' ? [sums.rowRatioSquares, sums.rowRatioCounts] : [sums.rowKlSquares, sums.rowKlCounts];
  const residuals = Math.max(0, squares - 2 * mean * products + mean * mean * rowCountSquares);
  return { mean, error: Math.sqrt((residuals * rows) / (rows - 1)) / tokens };
}

/**
 * Slope of the trainer's log-prob over the engine's, and its inverse the other way round: noise makes the first smaller and the second
 * larger than the factor between the two. 1 if the columns do not go together.
 */
export function slopesOf(sums: EngineSums): { least: number; most: number; error: number } {
  const { tokens } = sums;
  const variance = sums.engineSquares - (sums.engine * sums.engine) / tokens;
  const own = sums.trainerSquares - (sums.trainer * sums.trainer) / tokens;
  const covariance = sums.products - (sums.engine * sums.trainer) / tokens;
  if (!(covariance > 0)) return { least: 1, most: 1, error: 0 };
  const slopes = [covariance / variance, own / covariance];
  const [least, most] = [Math.min(...slopes), Math.max(...slopes)];
  // By the residuals of the line through the points.
  const unexplained = Math.max(0, 1 - (covariance * covariance) / (variance * own));
  return { least, most, error: most * Math.sqrt(unexplained / Math.max(1, tokens - 2)) };
}
