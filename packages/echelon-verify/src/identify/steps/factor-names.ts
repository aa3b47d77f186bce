/** What a constant factor of all gradient coefficients is. */

import { significant } from 'command-kit/number';
import type { StepBatch } from '../../format/step-batch.ts';
import { integersOf, type Layout } from '../../step/model/layout.ts';
import { type Factor, isFactor } from './fit.ts';
import { roundest } from './roundest.ts';

/** A factor in words; `isNamed` if it is made of integers of the layout or a sign, and not solved for. */
export interface NamedFactor {
  readonly text: string;
  readonly isNamed: boolean;
}

/** The factor in words. It is not 1. */
export function nameFactor(batch: StepBatch, layout: Layout, factor: Factor): NamedFactor {
  if (isFactor(factor, -1)) return { text: 'the sign is reversed', isNamed: true };
  const isNegative = factor.high < 0;
  const size = isNegative ? { low: -factor.high, high: -factor.low } : factor;
  const sign = isNegative ? 'the sign is reversed, and ' : '';
  const names = integersOf(batch, layout).flatMap(([name, integer]) => [
    ...(isFactor(size, integer) ? [`× ${integer} (${name})`] : []),
    ...(isFactor(size, 1 / integer) ? [`÷ ${integer} (${name})`] : []),
  ]);
  if (names.length > 0) return { text: `${sign}an extra factor ${names.join(', or ')}`, isNamed: true };
  const text = `${sign}every gradient coefficient is ${factorText(size)} times the expected one`;
  return { text: `${text}${meaningOf(batch, layout, size)}`, isNamed: false };
}

/** A short number, or a fraction of small integers. */
function factorText(factor: Factor): string {
  const short = roundest(factor.low, factor.high);
  const digits = String(short).replace(/^0\.0*|\D/g, '').length;
  if (digits <= 4) return String(short);
  for (let below = 2; below <= 64; below++) {
    const above = Math.round(below * factor.low);
    if (above > 0 && isFactor(factor, above / below))
      return `${significant(above / below, 7)} (${above}/${below})`;
  }
  return significant((factor.low + factor.high) / 2, 7);
}

/** The constant or the count that would be in the place of the stated one. */
function meaningOf({ step }: StepBatch, layout: Layout, { low, high }: Factor): string {
  const { aggregation } = step;
  if (aggregation === undefined) return '';
  const { mode, scope, scaleFactor, denominator } = aggregation;
  const solved = (stated: number, name: string): string =>
    `: ${name} is ${significant(roundest(stated / high, stated / low), 9)}; you said ${stated}`;
  if (mode === 'seq-mean-token-sum-norm' && scaleFactor !== undefined)
    return solved(scaleFactor, 'scaleFactor');
  if (mode === 'constant' && denominator !== undefined) return solved(denominator, 'the denominator');
  if (mode !== 'token-mean' || scope !== 'global') return '';
  const tokens = layout.tokensOf(0, aggregation);
  const count = Math.round(tokens / low);
  return isFactor({ low, high }, tokens / count) && count !== tokens
    ? `: the denominator is ${count}; you said ${tokens}`
    : '';
}
