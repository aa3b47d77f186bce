/** What was reported of a row, and its outcome: that of its worst token if the batch has tokens for it. */

import type { Batch } from '../format/batch.ts';
import type { RowOutcome } from '../report/report.ts';
import type { Judge } from './outcomes.ts';

/** The reported value that decides a row's outcome. */
export interface JudgedRow {
  readonly outcome: RowOutcome;
  /** Row of the model: the row, or the token of the batch. Undefined if the row has no token of the mask. */
  readonly at?: number;
  readonly reported?: number;
  /** Position of the token in the response. */
  readonly token?: number;
}

/** Judges one row. Undefined if no advantages are reported. */
export function judgeRow(batch: Batch, judge: Judge, row: number): JudgedRow | undefined {
  const { reported } = judge;
  if (reported === undefined) return undefined;
  if (batch.unreported?.[row] === 1) return { outcome: 'unverifiable' };
  if (judge.model.isPerToken) return worstToken(batch, judge, row, (token) => token) ?? { outcome: 'exact' };
  const ofTokens =
    batch.tokens?.reportedAdvantage && batch.tokens.mask && worstToken(batch, judge, row, () => row);
  return ofTokens || { outcome: judge.judge(row, reported[row]!), at: row, reported: reported[row]! };
}

/** From the best outcome to the worst. */
const ORDER: readonly RowOutcome[] = ['exact', 'rounding', 'unverifiable', 'wrong'];

/**
 * The token of the mask with the worst outcome; of several the one that is farthest from its true value. Undefined if the row has
 * none. `at`: the row of the model for a token.
 */
function worstToken(
  { tokens }: Batch,
  judge: Judge,
  row: number,
  at: (token: number) => number,
): JudgedRow | undefined {
  const { offset, mask, reportedAdvantage: reported } = tokens!;
  let worst: JudgedRow | undefined;
  let rank = -1;
  let off = 0;
  for (let t = offset[row]!; t < offset[row + 1]!; t++) {
    if (mask![t] === 0 || (worst?.at === at(t) && Object.is(worst.reported, reported![t]))) continue;
    const outcome = judge.judge(at(t), reported![t]!);
    const own = ORDER.indexOf(outcome);
    const far = Math.abs(reported![t]! - judge.model.truth[at(t)]!);
    if (own < rank || (own === rank && !(far > off))) continue;
    worst = { outcome, at: at(t), reported: reported![t]!, token: t - offset[row]! };
    rank = own;
    off = far;
  }
  return worst;
}
