/** Which estimators explain the advantages of a dump, when nothing states one. Evidence, not proof. */

import { createJudge } from '../../bounds/outcomes.ts';
import { KNOWN_FORMS, type KnownForm } from '../../identify/fingerprints.ts';
import { estimatorOfForm } from '../../identify/identify.ts';
import { type BatchEstimator, batchFingerprint } from '../batch.ts';
import type { DumpStep, EstimatorSketch } from './adapter.ts';
import { batchOf, estimatorFrom } from './dump-batch.ts';

/** An estimator and the share of the rows tried that it explains, 0 to 1. */
export interface Fit {
  readonly estimator: BatchEstimator;
  readonly share: number;
}

/** An estimator must explain this share of the rows to be taken. */
const MIN_SHARE = 0.9;

/** What trainers use, for a dump of which the trainer is not known. */
const USUAL: readonly EstimatorSketch[] = [
  ...[1e-4, 1e-6, 1e-8, 1e-5, 1e-9].flatMap((epsilon): EstimatorSketch[] => [
    { name: 'grpo', params: { epsilon, deviation: 'sample' } },
    { name: 'grpo', params: { epsilon, deviation: 'population' } },
  ]),
  { name: 'grpo', params: { normalizeByStd: false } },
  { name: 'rloo' },
];

/**
 * The estimator that explains most rows, and the others that explain as many. `known` are those of the trainer; empty: any.
 * No best if none explains enough, or if no row tells one from another.
 */
export function inferEstimator(
  steps: readonly DumpStep[],
  known: readonly BatchEstimator[],
): { readonly best?: Fit; readonly others: readonly Fit[] } {
  const tried = known.length > 0 ? known : [...KNOWN_FORMS.map(withoutMissing), ...USUAL.map(estimatorFrom)];
  const fits = distinct(tried)
    .map((estimator) => ({ estimator, share: shareOf(steps, estimator) }))
    .sort((a, b) => b.share - a.share);
  const [best] = fits;
  if (best === undefined || !(best.share >= MIN_SHARE)) return { others: [] };
  return { best, others: fits.slice(1).filter(({ share }) => share === best.share) };
}

/** The form without its rule for missing rewards: rows without a reward are not in a step. */
function withoutMissing({ estimator, params: { missing: _, ...params } }: KnownForm): BatchEstimator {
  return estimatorOfForm({ estimator, params });
}

function distinct(estimators: readonly BatchEstimator[]): BatchEstimator[] {
  return [...new Map(estimators.map((estimator) => [batchFingerprint(estimator), estimator])).values()];
}

/** Share of the rows with an advantage that the estimator can give. */
function shareOf(steps: readonly DumpStep[], estimator: BatchEstimator): number {
  let explained = 0;
  let rows = 0;
  for (const step of steps) {
    const batch = batchOf(step, estimator);
    const judge = createJudge(batch);
    if (!('model' in judge) || batch.reportedAdvantage === undefined) continue;
    rows += batch.rows;
    batch.reportedAdvantage.forEach((value, row) => {
      if (judge.judge(row, value) !== 'wrong') explained++;
    });
  }
  return rows === 0 ? 0 : explained / rows;
}
