/**
 * Statistics between rollout engine and trainer. For tokens sampled from the engine's policy over its whole support,
 * E[ρ] = 1 with ρ = exp(oldLogProb − rolloutLogProb), whatever the two policies are. The identity has no tolerance, only a standard error.
 */

import type { Finding } from '../report.ts';
import { significant } from '../text/number.ts';
import { stepFinding } from './findings.ts';
import type { StepBatch } from './format/step-batch.ts';

/** Standard errors beyond which a mean is not 1. */
const DEVIATIONS = 4;
/** Rows and tokens below which there is no statistic. */
const MIN_ROWS = 8;
const MIN_TOKENS = 200;
/** Share of ratios above 1 by more than noise, below which the support is truncated. */
const MAX_SHARE_ABOVE = 0.05;
/** Mean KL that dense, mixture and 8-bit models show at most (NeMo-RL's bound for MXFP8 rollouts is 0.05). */
const MAX_MISMATCH = 0.05;
/** Relative deviation of the slope from 1 that a temperature shows. */
const SLOPE_OFF = 0.1;
/** A token whose reported log-prob is likely and whose trained one is far less likely. */
const LIKELY = Math.log(0.5);
const FAR = 3;

/** What the pairs of log-probs of the trained tokens show. */
export interface EngineStatistics {
  readonly tokens: number;
  readonly rows: number;
  /** Mean ratio and its standard error, from the rows: tokens of a row are not independent. */
  readonly meanRatio: number;
  readonly standardError: number;
  /** Mean of ρ − 1 − ln ρ: an estimate of the KL divergence. */
  readonly meanKl: number;
  /** Share of tokens with ρ > 1.001. */
  readonly shareAbove: number;
  /**
   * Slope of the trainer's log-prob over the engine's, and its inverse the other way round. Noise makes the first smaller and the
   * second larger than the factor between the two.
   */
  readonly slopes: readonly [number, number];
  /** Mean |difference| at shift −1, 0 and 1. */
  readonly gapAt: readonly [number, number, number];
  readonly zeros: number;
  readonly longestZeros: number;
  /** Tokens that the engine finds likely and the trainer does not. */
  readonly unlikely: number;
}

/** The findings between engine and trainer; none without the columns, or with too few tokens. */
export function engineFindings(batch: StepBatch): Finding[] {
  const found = engineStatistics(batch);
  if (found === undefined) return [];
  const { tokens, zeros, longestZeros, unlikely, gapAt } = found;
  const placeholder =
    zeros >= 0.01 * tokens && longestZeros >= 4
      ? [
          stepFinding(
            'log-prob-placeholder',
            `${zeros} of ${tokens} trained tokens have a log-prob of 0, up to ${longestZeros} in a row.`,
          ),
        ]
      : [];
  const [before, here, after] = gapAt;
  const isShifted = Math.min(before, after) < 0.5 * here && here > 0.01;
  if (isShifted) {
    const shift = before < after ? -1 : 1;
    const text = `The mean difference is ${show(here)} as stored, and ${show(Math.min(before, after))} against the token at ${shift}, over ${tokens} tokens.`;
    return [...placeholder, stepFinding('log-probs-shifted', text)];
  }
  if (unlikely >= 0.01 * tokens && unlikely >= 8) {
    const text = `${unlikely} of ${tokens} tokens have a rollout log-prob above ln 0.5 and a log-prob lower by more than ${FAR}.`;
    return [...placeholder, stepFinding('wrong-token', text)];
  }
  return [...placeholder, ...ratioFindings(found)];
}

function ratioFindings(found: EngineStatistics): Finding[] {
  const { tokens, rows, meanRatio, standardError, meanKl, shareAbove, slopes } = found;
  const off = (meanRatio - 1) / standardError;
  const text = `The mean ratio is ${show(meanRatio)} with a standard error of ${show(standardError)} (${tokens} tokens in ${rows} rows).`;
  const kl = `The mean KL divergence is ${show(meanKl)} over ${tokens} tokens.`;
  const [least, most] = [Math.min(...slopes), Math.max(...slopes)];
  const isScaled = (least > 1 + SLOPE_OFF || most < 1 - SLOPE_OFF) && meanKl > 0.005;
  if (isScaled)
    return [
      stepFinding(
        'temperature-mismatch',
        `${text} The trainer’s log-probs grow by ${show(least)} to ${show(most)} for each unit of the engine’s.`,
      ),
    ];
  if (off < -DEVIATIONS && shareAbove < MAX_SHARE_ABOVE)
    return [
      stepFinding(
        'support-truncated',
        `${text} ${(100 * shareAbove).toFixed(1)} % of the ratios are above 1.`,
      ),
    ];
  const level = meanKl > MAX_MISMATCH ? [stepFinding('mismatch-level', kl)] : [];
  return Math.abs(off) > DEVIATIONS && Math.abs(meanRatio - 1) > 1e-4
    ? [stepFinding('ratio-mean', text), ...level]
    : level;
}

/** The statistics; undefined without both columns, with fewer than 200 trained tokens, or fewer than eight rows. */
export function engineStatistics(batch: StepBatch): EngineStatistics | undefined {
  const { rolloutLogProb: engine, oldLogProb, logProb, offset } = batch.tokens;
  const counts = sampledFlags(batch);
  // A loss without an old policy has the engine’s log-probs in its place: then they are those of the engine in two columns.
  const isEngine = engine !== undefined && oldLogProb !== undefined && areEqual(engine, oldLogProb, counts);
  const trainer = isEngine ? logProb : (oldLogProb ?? logProb);
  if (engine === undefined || trainer === undefined || batch.rows < MIN_ROWS) return undefined;
  const sums = emptySums();
  const ofRows: { sum: number; count: number }[] = [];
  for (let row = 0; row < batch.rows; row++) {
    const start = { sum: sums.ratio, count: sums.tokens };
    for (let t = offset[row]!; t < offset[row + 1]!; t++) {
      if (!counts(t)) continue;
      const next = t + 1 < offset[row + 1]! ? engine[t + 1]! : Number.NaN;
      const last = t > offset[row]! ? engine[t - 1]! : Number.NaN;
      addPair(sums, { engine: engine[t]!, trainer: trainer[t]!, next, last });
    }
    sums.run = 0;
    if (sums.tokens > start.count)
      ofRows.push({ sum: sums.ratio - start.sum, count: sums.tokens - start.count });
  }
  return sums.tokens < MIN_TOKENS || ofRows.length < MIN_ROWS ? undefined : summary(sums, ofRows);
}

/** True if two columns hold the same numbers at all tokens that count. */
function areEqual(a: Float32Array, b: Float32Array, counts: (token: number) => boolean): boolean {
  return a === b || a.every((value, token) => !counts(token) || Object.is(value, b[token]));
}

/**
 * Which tokens the policy sampled, of those of the mask: the identity holds for these alone. Without the column they are the tokens
 * that contribute, unless rejection dropped tokens by the very ratio that is measured.
 */
function sampledFlags({ tokens, step }: StepBatch): (token: number) => boolean {
  const { mask, kept, sampled } = tokens;
  const own = sampled === undefined && step.rolloutCorrection?.action !== 'mask' ? (kept ?? mask) : mask;
  return (token) => own?.[token] !== 0 && sampled?.[token] !== 0;
}

const emptySums = () => ({
  tokens: 0,
  ratio: 0,
  kl: 0,
  above: 0,
  engine: 0,
  trainer: 0,
  squares: 0,
  ownSquares: 0,
  products: 0,
  gap: 0,
  before: 0,
  after: 0,
  inner: 0,
  innerGap: 0,
  zeros: 0,
  run: 0,
  longest: 0,
  unlikely: 0,
});
type Sums = ReturnType<typeof emptySums>;

function addPair(
  sums: Sums,
  { engine, trainer, next, last }: { engine: number; trainer: number; next: number; last: number },
): void {
  if (!Number.isFinite(engine) || !Number.isFinite(trainer)) return;
  const log = trainer - engine;
  const ratio = Math.exp(log);
  sums.tokens++;
  sums.ratio += ratio;
  sums.kl += ratio - 1 - log;
  sums.above += ratio > 1.001 ? 1 : 0;
  sums.engine += engine;
  sums.trainer += trainer;
  sums.squares += engine * engine;
  sums.ownSquares += trainer * trainer;
  sums.products += engine * trainer;
  sums.gap += Math.abs(log);
  sums.unlikely += engine > LIKELY && log < -FAR && engine !== 0 ? 1 : 0;
  const isZero = engine === 0 || trainer === 0;
  sums.zeros += isZero ? 1 : 0;
  sums.run = isZero ? sums.run + 1 : 0;
  sums.longest = Math.max(sums.longest, sums.run);
  if (!Number.isFinite(next) || !Number.isFinite(last)) return;
  sums.inner++;
  sums.innerGap += Math.abs(log);
  sums.before += Math.abs(trainer - last);
  sums.after += Math.abs(trainer - next);
}

/** The mean of a ratio of sums has the standard error of its residuals over the rows. */
function summary(sums: Sums, rows: readonly { sum: number; count: number }[]): EngineStatistics {
  const { tokens } = sums;
  const meanRatio = sums.ratio / tokens;
  const residuals = rows.reduce((all, { sum, count }) => all + (sum - meanRatio * count) ** 2, 0);
  const standardError = Math.sqrt((residuals * rows.length) / (rows.length - 1)) / tokens;
  const variance = sums.squares - (sums.engine * sums.engine) / tokens;
  const own = sums.ownSquares - (sums.trainer * sums.trainer) / tokens;
  const covariance = sums.products - (sums.engine * sums.trainer) / tokens;
  const inner = Math.max(1, sums.inner);
  return {
    tokens,
    rows: rows.length,
    meanRatio,
    // Equal columns have no spread; the float32 rounding of the log-probs then stands for it.
    standardError: Math.max(standardError, 2 ** -23),
    meanKl: sums.kl / tokens,
    shareAbove: sums.above / tokens,
    slopes: covariance > 0 ? [covariance / variance, own / covariance] : [1, 1],
    gapAt: [sums.before / inner, sums.innerGap / inner, sums.after / inner],
    zeros: sums.zeros,
    longestZeros: sums.longest,
    unlikely: sums.unlikely,
  };
}

const show = (value: number): string => significant(value, 4);
