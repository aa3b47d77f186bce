/** What a verification says: outcomes of rows, findings, diagnosis. All plain JSON. */

import type { SignalDescription } from './signal-description.ts';

/**
 * `wrong`: no evaluation of the formula in the trainer's arithmetic gives this value. `rounding`: one does, but it
 * differs from the true value by more than {@link DISPLAY_TOLERANCE}. `exact`: one does, and it is within. `unverifiable`:
 * what the row needs was not in the batch.
 */
export type RowOutcome = 'exact' | 'rounding' | 'wrong' | 'unverifiable';

/** The display constant: |reported - true| above 1e-4 * max(|true|, 0.01) counts as `rounding`. It does not decide which rows are `wrong`. */
export const DISPLAY_TOLERANCE = 1e-4;

/** Below this size of the true value, the display constant is taken of this size instead. */
export const DISPLAY_FLOOR = 0.01;

/** Rows listed in a report or a finding at most; the counters hold the full number. */
export const MAX_LISTED_ROWS = 1000;

/** An `error`: the batch contradicts itself or its stated parameters; a `warning` is poor or missing data. */
export type Severity = 'error' | 'warning';

/**
 * Code of the finding of a batch that could not be read or recomputed. The finding says nothing about the rows, and the batch
 * may be verified again.
 */
export const NOT_VERIFIABLE = 'not-verifiable';

export interface Finding {
  /** A key of {@link FINDINGS}. */
  code: string;
  severity: Severity;
  /** Rows concerned, the first {@link MAX_LISTED_ROWS}; empty if the whole batch is. */
  rows: number[];
  /** What is wrong, with numbers, and how to fix it. */
  message: string;
}

/** What a level of HGPO's hierarchy (or GiGPO's step groups, or the whole group) holds and gives. */
export interface LevelDiagnosis {
  /** k; -1 for the part over the whole group. */
  level: number;
  clusters: number;
  /** Clusters of one row: nothing to compare with. */
  singletons: number;
  /** Clusters of two rows or more in which all values are equal. */
  equalClusters: number;
  /** Rows that have this level at all. */
  rows: number;
  meanSize: number;
  largestSize: number;
  /** Share of all weight that this level carried, 0 to 1, by the true values. */
  weightShare: number;
}

/** Why rows got no signal, as counts of rows. */
export interface ZeroReasons {
  /** Rows whose true advantage is 0. */
  rows: number;
  /** ... because every cluster of theirs has one row. */
  singleton: number;
  /** ... because all values in their clusters are equal. */
  equal: number;
  /** ... because their value is their cluster's mean. */
  atMean: number;
}

/** How informative a batch is, whether or not it is right. */
export interface Diagnosis {
  levels: LevelDiagnosis[];
  zero: ZeroReasons;
  /** What whole groups with a quarter of the rows offer to learn from; absent without observations and returns. It does not predict success. */
  signal?: SignalDescription;
  /** Share of the rows with parts of both signs. */
  partsDisagree: number;
  /** Share of the rows with two signs to compare whose sign at level 0 differs from the aggregate's: context inconsistency. */
  signFlipShare: number;
  /** Rows whose true advantage is 0 and whose reported one is not: signal that exists only through rounding. */
  roundingOnly: number;
}

/** What verification found in one batch. Row lists are capped at {@link MAX_LISTED_ROWS}; counters are not. */
export interface BatchReport {
  name: string;
  rows: number;
  exact: number;
  rounding: number;
  wrong: number;
  unverifiable: number;
  wrongRows: number[];
  roundingRows: number[];
  findings: Finding[];
  /** No wrong row, no unverifiable row and no error finding. */
  ok: boolean;
  /** Everything that changes the number, in one line. */
  fingerprint: string;
  diagnosis?: Diagnosis;
}
