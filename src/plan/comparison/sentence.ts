import type { ComparisonOutcome, PairedDifference } from './paired-difference.ts';

const OUTCOMES: Record<ComparisonOutcome, string> = {
  better: 'is better by at least the margin',
  'better-size-open': 'is better; the size is open',
  worse: 'is worse by at least the margin',
  'worse-size-open': 'is worse; the size is open',
  equal: 'is equal for practical purposes',
  'not-decided': 'is not decided to be better or worse',
};

/** What a difference means for the method, in a sentence without a point. */
export function sentenceOf(
  method: string,
  { outcome, moreSeeds }: Pick<PairedDifference, 'outcome' | 'moreSeeds'>,
): string {
  const more =
    outcome === 'not-decided'
      ? `; ${moreSeeds === null ? 'over 1,000' : moreSeeds} more seeds would be needed`
      : '';
  return `${method} ${OUTCOMES[outcome]}${more}`;
}
