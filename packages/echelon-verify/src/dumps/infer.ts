/** Which estimators explain the advantages of a dump, when nothing states one. Evidence, not proof. */

import type { Precision } from '../arithmetic/arithmetic.ts';
import { type BatchEstimator, estimatorFrom } from '../format/batch.ts';
import { formFingerprint, KNOWN_FORMS } from '../identify/fingerprints.ts';
import { type Candidate, estimatorOfForm, identify } from '../identify/identify.ts';
import { fingerprint } from '../kernel/estimators/fingerprint.ts';
import type { DumpStep } from './adapter.ts';
import { batchOf } from './dump-batch.ts';

/** An estimator and the share of the rows tried that it explains, 0 to 1. */
export interface Fit {
  readonly estimator: BatchEstimator;
  readonly share: number;
}

/** An estimator must explain this share of the rows to be taken. */
export const MIN_SHARE = 0.9;

/**
 * The known form that explains most rows, the nearest first, and the others that explain as many. Only the forms of the
 * estimators `known` are tried; all forms if there are none. No best if none explains enough.
 */
export function inferEstimator(
  steps: readonly DumpStep[],
  known: readonly BatchEstimator[],
  precision: Precision = 'float32',
): { readonly best?: Fit; readonly others: readonly Fit[] } {
  const own = new Set(known.map(({ name, params }) => fingerprint(name, params)));
  const forms = KNOWN_FORMS.filter((form) => own.has(formFingerprint(form)));
  const batches = steps.map((step) => batchOf(step, estimatorFrom('grpo', {}, precision)));
  const found = identify(batches, 0, forms.length > 0 ? forms : KNOWN_FORMS);
  const [best, ...rest] = [...found.fits, ...found.others].map((one) => fitOf(one, precision));
  if (best === undefined || best.share < MIN_SHARE) return { others: [] };
  return { best, others: rest.filter(({ share }) => share === best.share) };
}

/** The form keeps its rule for missing rewards, which a later step may need. */
function fitOf({ forms, explained, rows }: Candidate, precision: Precision): Fit {
  return { estimator: { ...estimatorOfForm(forms[0]!), precision }, share: explained / rows };
}
