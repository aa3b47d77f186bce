/**
 * Findings between rollout engine and trainer. For tokens sampled from the engine's policy over its whole support, E[ρ] = 1 with
 * ρ = exp(oldLogProb − rolloutLogProb), whatever the two policies are. The identity has no tolerance, only a standard error. Tokens
 * that are far apart are named, and take no part in the other statistics: one of them would decide every mean.
 */

import { significant } from 'command-kit/number';
import { counted } from 'command-kit/plural';
import type { StepPrecision } from '../../format/step-settings.ts';
import type { Finding } from '../../report/report.ts';
import { type StepFindingCode, stepFinding } from '../../report/step-findings.ts';
import { deviationsOf, deviationsOfOne, farLogRatio, isMoreThanHalf, roundingKl } from './chance.ts';
import {
  type EngineRow,
  type EngineStatistics,
  type EngineSums,
  type EngineToken,
  FAR,
  meanOf,
  slopesOf,
} from './sums.ts';

/** Share of ratios above 1 by more than noise, below which the support is truncated. */
const MAX_SHARE_ABOVE = 0.05;
/** Mean KL that dense, mixture and 8-bit models show at most (NeMo-RL's bound for MXFP8 rollouts is 0.05). */
const MAX_MISMATCH = 0.05;
/** Relative deviation of the slope from 1 that a temperature shows. */
const SLOPE_OFF = 0.1;
/** Mean ratios nearer to 1 have no effect on a training. */
const MIN_RATIO_OFF = 1e-4;

/** The findings of one step. */
export function engineFindings(
  { sums, rows, named, rowsOf }: EngineStatistics,
  precision: StepPrecision,
): Finding[] {
  const { notFinite, far } = sums;
  const all = sums.tokens + far;
  const ofTokens = [
    ...(notFinite === 0
      ? []
      : [tokensFinding('log-prob-not-finite', notFinite, named.notFinite, rowsOf.notFinite)]),
    ...(far === 0
      ? []
      : [
          stepFinding(
            'log-probs-apart',
            `${tokensText(far, named.far)}: the two differ by more than ${show(farLogRatio(all))}, which chance does not give ${all} tokens.`,
            rowsOf.far,
          ),
        ]),
  ];
  return [
    ...ofTokens,
    ...sumsFindings(sums, { precision, named: named.unlikely, rows: rowsOf.unlikely }),
    ...rowsApart(rows),
  ];
}

/** What single steps do not show and their tokens together do. */
export function pooledFindings(
  sums: EngineSums,
  { steps, precision }: { steps: number; precision: StepPrecision },
): Finding[] {
  return sumsFindings(sums, { precision, named: [], rows: [] }).map((found) => ({
    ...found,
    message: `${steps} steps together: ${found.message}`,
  }));
}

function tokensFinding(
  code: StepFindingCode,
  count: number,
  named: readonly EngineToken[],
  rows: readonly number[],
): Finding {
  return stepFinding(code, `${tokensText(count, named)}.`, rows);
}

/** How many tokens, and the first ones with their log-probs. */
function tokensText(count: number, named: readonly EngineToken[]): string {
  const places = named.map(
    ({ row, token, engine, trainer }) =>
      `row ${row}, token ${token}: engine ${show(engine)}, trainer ${show(trainer)}`,
  );
  const more = count > places.length ? ' and more' : '';
  return `${counted(count, 'token')}${places.length === 0 ? '' : ` (${places.join('; ')}${more})`}`;
}

interface OfSums {
  readonly precision: StepPrecision;
  readonly named: readonly EngineToken[];
  readonly rows: readonly number[];
}

function sumsFindings(sums: EngineSums, { precision, named, rows }: OfSums): Finding[] {
  const { tokens, zeros, longestZeros, unlikely, inner } = sums;
  if (tokens === 0) return [];
  const placeholder =
    zeros >= 0.01 * tokens && longestZeros >= 4
      ? [
          stepFinding(
            'log-prob-placeholder',
            `${zeros} of ${tokens} trained tokens have a log-prob of 0, up to ${longestZeros} in a row.`,
          ),
        ]
      : [];
  const [before, here, after] = [sums.before / inner, sums.here / inner, sums.after / inner];
  const nearer = before < after ? sums.nearerBefore : sums.nearerAfter;
  if (Math.min(before, after) < 0.5 * here && here > 0.01 && isMoreThanHalf(nearer, inner)) {
    const shift = before < after ? -1 : 1;
    const text = `The mean difference is ${show(here)} as stored, and ${show(Math.min(before, after))} against the token at ${shift}, over ${inner} tokens.`;
    return [...placeholder, stepFinding('log-probs-shifted', text)];
  }
  if (unlikely >= 0.01 * tokens && unlikely >= 8) {
    const text = `${tokensText(unlikely, named)} of ${tokens} have a rollout log-prob above ln 0.5 and a log-prob lower by more than ${FAR}.`;
    return [...placeholder, stepFinding('wrong-token', text, rows)];
  }
  return [...placeholder, ...ratioFindings(sums, precision)];
}

function ratioFindings(sums: EngineSums, precision: StepPrecision): Finding[] {
  const { tokens, rows, above } = sums;
  const kl = meanOf(sums, 'kl');
  const { mean, error } = meanOf(sums, 'ratio');
  // Equal columns have no spread; the float32 rounding of the log-probs then stands for it.
  const standardError = Math.max(error, 2 ** -23);
  const text = `The mean ratio is ${show(mean)} with a standard error of ${show(standardError)} (${tokens} tokens in ${rows} rows).`;
  const { least, most, error: slopeError } = slopesOf(sums);
  const deviations = deviationsOf(rows);
  const margin = SLOPE_OFF + (tokens > 2 ? deviationsOf(tokens - 1) * slopeError : Number.POSITIVE_INFINITY);
  if ((least > 1 + margin || most < 1 - margin) && kl.mean > 4 * roundingKl('bfloat16'))
    return [
      stepFinding(
        'temperature-mismatch',
        `${text} The trainer’s log-probs grow by ${show(least)} to ${show(most)} for each unit of the engine’s.`,
      ),
    ];
  const off = (mean - 1) / standardError;
  const shareAbove = above / tokens;
  if (off < -deviations && shareAbove < MAX_SHARE_ABOVE)
    return [
      stepFinding(
        'support-truncated',
        `${text} ${(100 * shareAbove).toFixed(1)} % of the ratios are above 1.`,
      ),
    ];
  const level =
    kl.mean - deviations * kl.error > MAX_MISMATCH
      ? [stepFinding('mismatch-level', `The mean KL divergence is ${show(kl.mean)} over ${tokens} tokens.`)]
      : [];
  // Rounded log-probs move the mean by about the KL divergence of their rounding.
  const least1 = MIN_RATIO_OFF + roundingKl(precision);
  return Math.abs(off) > deviations && Math.abs(mean - 1) > least1
    ? [stepFinding('ratio-mean', text), ...level]
    : level;
}

/**
 * Rows whose mean KL divergence is far above that of the others, in their own logarithmic spread: an image, a tool or a template that only
 * one side has. Their own standard error counts for them, and less than the rounding of bfloat16 logits, which an engine may have whatever
 * the trainer's precision is, is no difference.
 */
function rowsApart(rows: readonly EngineRow[]): Finding[] {
  const floor = roundingKl('bfloat16');
  const sizes = rows.map(({ kl }) => Math.log(kl + floor));
  const middle = median(sizes);
  const spread = 1.4826 * median(sizes.map((size) => Math.abs(size - middle)));
  const own = median(rows.map(({ kl, error }) => error / (kl + floor)));
  const limit = Math.exp(middle + deviationsOfOne(rows.length) * Math.max(spread, own));
  const apart = rows.filter(({ kl, error }) => kl - 4 * error > limit);
  if (apart.length === 0) return [];
  const [first] = apart;
  const text = `${counted(apart.length, 'row')} of ${rows.length} (row ${first!.row}: ${show(first!.kl)} over ${counted(first!.tokens, 'token')}; the median row has ${show(Math.exp(middle) - floor)}).`;
  return [
    stepFinding(
      'rows-apart',
      text,
      apart.map(({ row }) => row),
    ),
  ];
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}

const show = (value: number): string => significant(value, 4);
