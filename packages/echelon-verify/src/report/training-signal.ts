import { plural } from 'command-kit/plural';
import { NOT_VERIFIABLE } from './report.ts';

/*
 * The one definition of a wrong training signal: a row that no evaluation of its formula gives, or a batch that contradicts itself
 * or what it states. A batch that could not be read says nothing of its rows, and its signal is not wrong but unverified.
 * Badges, filters, rules, notifications and exit statuses ask these functions; src/store/experiments/lua/list.lua has the same for
 * the counters of a record.
 */

/** What a report found: wrong rows, and the codes of its error findings. */
export interface Found {
  wrong: number;
  errors: readonly string[];
}

/** Code of the finding that repeats the count of wrong rows. */
const WRONG_ROWS = 'wrong-rows';

/** The contradictions of a batch: the codes of its error findings that make its signal wrong, but for wrong rows. */
export const contradictionsOf = ({ errors }: Pick<Found, 'errors'>): string[] =>
  errors.filter((code) => code !== NOT_VERIFIABLE && code !== WRONG_ROWS);

/** Why the signal of a batch is wrong, in words: "3 wrong rows", "steps-out-of-order"; empty if it is not. */
export function wrongBecause(found: Found): string[] {
  const contradictions = contradictionsOf(found);
  return found.wrong > 0 ? [plural(found.wrong, 'wrong row'), ...contradictions] : contradictions;
}

/** Whether the signal of a batch is wrong. */
export const isWrong = (found: Found): boolean => wrongBecause(found).length > 0;

/** The training signal of some reports together; null: no row has one. */
export type TrainingSignal = 'right' | 'wrong' | 'unverified' | null;

/** Rows by outcome over some reports, their error findings, and those of them that say that a batch could not be read. */
export interface SignalCounts {
  right: number;
  wrong: number;
  unverifiable: number;
  errors: number;
  unreadable: number;
}

/** See {@link TrainingSignal}. */
export function signalOf({ right, wrong, unverifiable, errors, unreadable }: SignalCounts): TrainingSignal {
  if (wrong > 0 || errors > unreadable) return 'wrong';
  if (unverifiable > 0) return 'unverified';
  return right > 0 ? 'right' : null;
}
