/** Outcomes of rows as they are shown: a word, a shape and a colour each, so that colour is never the only sign. */

import { isWrong } from 'echelon-verify/report';

export const OUTCOMES = ['exact', 'rounding', 'wrong', 'unverifiable'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Rows without a report yet are shown too, and are no outcome. */
export type Shown = Outcome | 'pending';

export const SHAPES: Record<Shown, string> = {
  exact: '●',
  rounding: '◐',
  wrong: '✕',
  unverifiable: '○',
  pending: '·',
};

/** Counts of rows by outcome. */
export type Counts = Record<Outcome, number>;

/** The rows that have an outcome. */
export const knownOf = (counts: Counts): number =>
  OUTCOMES.reduce((sum, outcome) => sum + counts[outcome], 0);

/** The parts of a bar, in order of outcome; `pending` are rows without one. Empty parts are omitted. */
export function partsOf(counts: Counts, rows: number): { outcome: Shown; rows: number; share: number }[] {
  const known = knownOf(counts);
  const all = Math.max(rows, known);
  if (all === 0) return [];
  return [
    ...OUTCOMES.map((outcome) => [outcome, counts[outcome]] as const),
    ['pending', all - known] as const,
  ]
    .filter(([, n]) => n > 0)
    .map(([outcome, n]) => ({ outcome, rows: n, share: n / all }));
}

/** What a batch shows: its worst outcome, or `wrong` if its training signal is wrong without a wrong row. */
export function worstOf(found: Counts & { errors: readonly string[] }): Outcome {
  if (isWrong(found)) return 'wrong';
  return (['unverifiable', 'rounding'] as const).find((outcome) => found[outcome] > 0) ?? 'exact';
}

/** The parts as a sentence, for people who do not see the bar. */
export function inWords(counts: Counts, rows: number): string {
  const parts = partsOf(counts, rows).map(
    ({ outcome, rows: n }) =>
      `${n.toLocaleString('en-US')} ${outcome === 'pending' ? 'not yet verified' : outcome}`,
  );
  return parts.length === 0 ? 'no rows yet' : parts.join(', ');
}
