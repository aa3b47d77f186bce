/** Which change of a known arithmetic explains advantages that no known arithmetic does. */

import { groupedBy } from '../base/grouped-by.ts';
import { type Batch, isPerToken } from '../format/batch.ts';
import type { Identification } from '../identify/identify.ts';
import { wholeGroups } from '../provenance/whole-groups.ts';
import { changeOf } from './likely-cause.ts';

/** A known form, and what was done otherwise. */
export interface ChangedForm {
  /** Id of the form, such as `trl/grpo`. */
  readonly form: string;
  readonly text: string;
}

/** Rows on which changes are tried at most. */
const MAX_ROWS = 2000;

/**
 * The change that gives every row of the first batch, from most of the forms; undefined if a form fits without one, or none does with
 * one.
 */
export function changedForm(
  [batch]: readonly Batch[],
  { fits, others }: Identification,
): ChangedForm | undefined {
  const reported = batch?.reportedAdvantage;
  if (batch === undefined || reported === undefined || fits.length > 0) return undefined;
  const judged = [...reported.keys()].filter((row) => Number.isFinite(reported[row]));
  const part = batch.rows <= MAX_ROWS ? batch : wholeGroups(batch, judged, MAX_ROWS)?.batch;
  if (part === undefined) return undefined;
  const rows = [...part.reportedAdvantage!.keys()].filter((row) =>
    Number.isFinite(part.reportedAdvantage![row]),
  );
  // GRPO first: it is what most trainers compute.
  const isOther = (estimator: Batch['estimator']): number => Number(estimator.name !== 'grpo');
  const tried = others.toSorted((a, b) => isOther(a.estimator) - isOther(b.estimator));
  const found = tried.flatMap(({ estimator, forms }) => {
    const { gamma, invalidActionPenalty, precision } = part.estimator;
    const own = { ...part, estimator: { ...estimator, gamma, invalidActionPenalty, precision } };
    const change = isPerToken(own) ? undefined : changeOf(own, rows);
    return change?.share === 1 ? [{ form: forms[0]!.id, text: change.text }] : [];
  });
  const byText = [...groupedBy(found, ({ text }) => text).values()];
  return byText.toSorted((a, b) => b.length - a.length)[0]?.[0];
}
