/** What a stage of a chain is: one object in one file, which gives a stage's float64 values and their bounds together. */

import type { Arithmetic, Forms } from '../../arithmetic/arithmetic.ts';
import { emptyColumn, type IntervalColumn, keep, put, radiusOf } from '../../arithmetic/interval.ts';
import {
  type GroupSingleton,
  type GroupStatistics,
  membersOf,
  type RowSet,
  setIds,
  setSums,
} from '../sets/row-sets.ts';
import { exactSets, type SetBounds, tokenSets, valueSets } from '../sets/set-bounds.ts';
import type { Deviation } from '../sets/spread.ts';
import type { TokenSequences } from './token-sequences.ts';

/** As {@link GroupSingleton}; `nan` gives NaN, as torch does for the sample deviation of one value. */
export type AnySingleton = GroupSingleton | 'nan';

/**
 * A score of NaN: it makes its group NaN, counts as 0, or is excluded from every statistic and gives 0. By the last, an
 * advantage that is NaN for another reason becomes 0 too.
 */
export type MissingRule = 'propagate' | 'zero' | 'exclude';

/** The part of a plan that holds for all its stages. Group stages give a group of one row what `singleton` says. */
export interface ChainRules {
  readonly singleton: AnySingleton;
  readonly missing: MissingRule;
  /** What means and deviations run over: as `GroupStatistics`. Default: `rows`. */
  readonly statistics?: GroupStatistics;
}

/** What the stages of a chain read besides their column. */
export interface Chain {
  readonly rules: ChainRules;
  readonly group: Int32Array;
  /** Response tokens of each row. Called only if a stage needs them. */
  tokens(): Int32Array;
  /** Of a chain over tokens. */
  readonly sequences: TokenSequences<IntervalColumn> | undefined;
  readonly arithmetic: Arithmetic;
  /** True if only the values are wanted: the ends of every interval are its value. */
  readonly isExact: boolean;
  /** Of sums over tokens, and of means and deviations over rows; the other stages admit any form. */
  readonly forms: Forms;
  /** The column that the chain starts with. */
  readonly scores: IntervalColumn;
  /** 0 for rows without a value: no statistic counts them, and they get 0. */
  readonly counted: Uint8Array;
  /** The row that counts in statistics for each row; undefined if each counts itself. */
  readonly standIn: Int32Array | undefined;
  /** Set to 1 for rows of which nothing can be said: a sum may leave the range, or a divisor may be 0. */
  readonly overflow: Uint8Array;
  /** Of the division of the chain: its sets serve the stage before it too. */
  readonly deviation: Deviation;
  /** The latest sets and their bounds: two stages over the scores share them. */
  latest?: ChainSets;
}

/** One kind of stage. `S` holds its parameters, with its name in `do`. */
export interface StageKind<S> {
  /** The stage in words. */
  text(stage: S): string;
  /** The column after the stage: values in float64, and for every order of summation and every form what the trainer may have. */
  run(stage: S, chain: Chain, x: IntervalColumn): IntervalColumn;
}

/** The responses of a chain over tokens. Throws a TypeError for a chain over rows. */
export function sequencesOf<S>({ sequences }: { readonly sequences?: S | undefined }): S {
  if (sequences === undefined) throw new TypeError('the chain has a stage over tokens, but runs over rows');
  return sequences;
}

/** Fills the counted rows of a new column; the others are 0. */
export function eachRow(
  { counted, isExact }: Chain,
  fill: (row: number, out: IntervalColumn) => void,
): IntervalColumn {
  const out = emptyColumn(counted.length, isExact);
  for (let row = 0; row < counted.length; row++) if (counted[row] !== 0) fill(row, out);
  return out;
}

/** The value of a group of one row: itself by `raw`, else 0 (NaN of NaN). */
export function putSingle(out: IntervalColumn, { rules }: Chain, x: IntervalColumn, row: number): void {
  if (rules.singleton === 'raw') keep(out, x, row);
  else put(out, row, x.value[row]! - x.value[row]!, 0, 0);
}

/** The groups, in which each row counts once. */
export const GROUP: RowSet = { over: 'group', weight: 'row' };

/** The sets of a stage over a column. */
export interface ChainSets {
  readonly rowSet: RowSet;
  readonly deviation: Deviation;
  readonly x: IntervalColumn;
  /** The set of each row, -1 for rows that are not counted. */
  readonly ids: Int32Array;
  readonly bounds: SetBounds;
}

/** The sets of a stage and their bounds. Rows of sets that may overflow are marked. */
export function setsOf(rowSet: RowSet, deviation: Deviation, chain: Chain, x: IntervalColumn): ChainSets {
  const { counted, overflow, standIn, latest } = chain;
  const isLatest = latest?.x === x && latest.deviation === deviation;
  if (isLatest && latest.rowSet.over === rowSet.over && latest.rowSet.weight === rowSet.weight) return latest;
  const { ids, sets } = setIds(rowSet, chain, counted);
  const bounds = boundsOf({ ids: membersOf(ids, standIn), sets, rowSet, deviation }, chain, x);
  for (let row = 0; row < ids.length; row++) {
    if (ids[row]! >= 0 && bounds.overflow[ids[row]!] === 1) overflow[row] = 1;
  }
  chain.latest = { rowSet, deviation, x, ids, bounds };
  return chain.latest;
}

type Members = Pick<ChainSets, 'ids' | 'rowSet' | 'deviation'> & { readonly sets: number };

function boundsOf({ ids, sets, rowSet, deviation }: Members, chain: Chain, x: IntervalColumn): SetBounds {
  const tokens = rowSet.weight === 'token' ? chain.tokens() : undefined;
  if (chain.isExact) return exactSets(setSums(ids, sets, x.value, tokens), deviation);
  const column = { ids, sets, value: x.value, radius: radiusOf(x) };
  if (tokens !== undefined) return tokenSets({ ...column, tokens }, deviation, chain.arithmetic);
  return valueSets(column, deviation, chain);
}

/** A set of rows in words. */
export function setText({ over, weight }: RowSet): string {
  return weight === 'token' ? `the ${over}, by tokens` : `the ${over}`;
}
