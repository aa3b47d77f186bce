/**
 * From the parts of a row to the values its advantage can have: the weighted mean over the levels that survive the
 * test for zero, or a plain sum of parts. The derivation is in docs/explanation/error-bounds.md.
 */

import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import type { Combination } from '../kernel/estimators/estimator.ts';
import { isRefinable, likelyPart, type Part, refinePart } from './level-value.ts';

export interface RowParts {
  readonly parts: readonly Part[];
  readonly combination: Combination;
  /** Added to the sum of weights before the division. */
  readonly weightEpsilon: number;
  readonly arithmetic: Arithmetic;
}

/** Work that may still be spent on enumerations, in steps; shared by the rows of a batch. */
export interface Effort {
  left: number;
}

/** Combinations of enumerated values that are tried for one set of survivors. */
const COMBINATIONS = 8_000;

/** Steps that one row, and one batch, may take before the coarser bounds must do. */
const ROW_EFFORT = 20_000;
export const BATCH_EFFORT = 10_000_000;

const MAX_UNCERTAIN = 10;

/** A part that blurs the row by less than this, relatively, is not worth an enumeration. */
const WORTHWHILE = 5e-6;

/** The interval that holds every admissible value of the row. */
export function hull(row: RowParts): { low: number; high: number } {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  forEachSurvival(row, (kept) => {
    const interval = combine(row, kept);
    low = Math.min(low, interval.low);
    high = Math.max(high, interval.high);
    return false;
  });
  return { low, high };
}

/** True if the trainer's arithmetic can have given `value` for this row. */
export function admits(row: RowParts, value: number, effort: Effort): boolean {
  if (isLikely(row, value)) return true;
  const search: Search = {
    row,
    value,
    refined: new Map(),
    effort: { left: Math.min(ROW_EFFORT, effort.left) },
  };
  const before = search.effort.left;
  const found = forEachSurvival(row, (kept) => {
    const interval = combine(row, kept);
    if (!(value >= interval.low && value <= interval.high)) return false;
    return admitsRefined(search, kept);
  });
  effort.left -= before - search.effort.left;
  return found;
}

/**
 * True if the value follows from the likeliest mean of each part: one of the combinations that the search below would
 * find, without its lists. Most values of a trainer do.
 */
function isLikely(row: RowParts, value: number): boolean {
  const isSum = row.combination === 'sum';
  let [low, high, size, count] = [0, 0, 0, 0];
  let weights = row.weightEpsilon;
  for (const part of row.parts) if (part.zero !== 'surely') weights += part.weight;
  for (const part of row.parts) {
    if (!isSum && part.zero === 'surely') continue;
    const isWide = isSum || widthOf(part) > WORTHWHILE * Math.abs(value) * weights;
    const interval = isWide && isRefinable(part) ? likelyPart(part) : part;
    if (interval === undefined) return false;
    const a = part.weight * interval.low;
    const b = part.weight * interval.high;
    low += Math.min(a, b);
    high += Math.max(a, b);
    size += Math.max(Math.abs(a), Math.abs(b));
    count++;
  }
  const total = isSum || count === 0 ? 1 : weights;
  const blur = (size / total) * roundings(row, count);
  const ends = widen(low / total - blur, high / total + blur, row);
  return value >= ends.low && value <= ends.high;
}

/** One value tried for one row. */
interface Search {
  readonly row: RowParts;
  readonly value: number;
  /** The enumerated values of parts, once they were needed; undefined if they are too many. */
  readonly refined: Map<Part, readonly number[] | undefined>;
  readonly effort: Effort;
}

/** The survivors of the test for zero, every combination that can be. Stops if `visit` returns true. */
function forEachSurvival(row: RowParts, visit: (kept: readonly Part[] | 'any') => boolean): boolean {
  if (row.combination === 'sum') return visit(row.parts);
  if (row.parts.every((part) => part.zero === 'never')) return visit(row.parts);
  let uncertain = 0;
  for (const part of row.parts) if (part.zero === 'maybe') uncertain++;
  if (uncertain > MAX_UNCERTAIN) return visit('any');
  for (let mask = 0; mask < 1 << uncertain; mask++) {
    let bit = 0;
    const kept = row.parts.filter((part) => {
      if (part.zero !== 'maybe') return part.zero === 'never';
      return (mask & (1 << bit++)) === 0;
    });
    if (visit(kept)) return true;
  }
  return false;
}

/** Interval of the row, given who survives. */
function combine(row: RowParts, kept: readonly Part[] | 'any'): { low: number; high: number } {
  if (kept === 'any') return convexHull(row);
  let low = 0;
  let high = 0;
  let size = 0;
  for (const part of kept) {
    low += part.weight * (part.weight >= 0 ? part.low : part.high);
    high += part.weight * (part.weight >= 0 ? part.high : part.low);
    size += Math.abs(part.weight) * Math.max(Math.abs(part.low), Math.abs(part.high));
  }
  const total = divisorOf(row, kept);
  const blur = (size / total) * roundings(row, kept.length);
  return widen(low / total - blur, high / total + blur, row);
}

/** A weighted mean lies between its least and its greatest item; dropping all of them gives 0. */
function convexHull(row: RowParts): { low: number; high: number } {
  let low = 0;
  let high = 0;
  for (const part of row.parts) {
    low = Math.min(low, part.low);
    high = Math.max(high, part.high);
  }
  const blur = Math.max(-low, high) * roundings(row, row.parts.length);
  return widen(low - blur, high + blur, row);
}

function divisorOf(row: RowParts, kept: readonly Part[]): number {
  if (row.combination === 'sum' || kept.length === 0) return 1;
  let total = row.weightEpsilon;
  for (const part of kept) total += part.weight;
  return total;
}

/**
 * Relative error of the combination, against the sum of |weight * part|: power (4 u), sum of weights and epsilon (m),
 * division, product and the additions (m); one more for good measure. A sum of parts has product and additions only.
 */
function roundings(row: RowParts, m: number): number {
  if (row.combination === 'sum') return m < 2 ? 0 : (m + 1.01) * row.arithmetic.unit;
  const relative = (2 * m + 7) * row.arithmetic.unit;
  return relative * (1 + relative);
}

/** What the float64 evaluation of the bounds loses, and the rounding of the report if it is another format. */
function slackOf({ arithmetic }: RowParts): number {
  return arithmetic.reportUnit * 1.0001 + 1e-14;
}

function widen(low: number, high: number, row: RowParts): { low: number; high: number } {
  const slack = slackOf(row);
  const { tiny } = row.arithmetic;
  return { low: low - slack * Math.abs(low) - tiny, high: high + slack * Math.abs(high) + tiny };
}

/**
 * Tries the parts that make the row's interval wide, value by value. True if that would take more than the effort
 * allows: the bounds must stay sound.
 */
function admitsRefined(search: Search, kept: readonly Part[] | 'any'): boolean {
  const { row, value, effort } = search;
  if (kept === 'any') return true;
  const total = divisorOf(row, kept);
  const terms = chooseTerms(search, kept, Math.abs(value) * total);
  if (terms === undefined) return true;
  const relative = roundings(row, kept.length) / total;
  const rest = reachOfRest(terms);
  const slack = slackOf(row);
  const { tiny } = row.arithmetic;
  const visit = (depth: number, low: number, high: number, size: number): boolean => {
    const { low: restLow, high: restHigh, size: restSize } = rest[depth]!;
    const blur = (size + restSize) * relative;
    const least = (low + restLow) / total - blur;
    const most = (high + restHigh) / total + blur;
    if (value < least - slack * Math.abs(least) - tiny || value > most + slack * Math.abs(most) + tiny)
      return false;
    const term = terms[depth];
    if (term === undefined) return true;
    const { pairs, weight } = term;
    for (let p = 0; p < pairs.length; p += 2) {
      if (--effort.left < 0) return true;
      const a = weight * pairs[p]!;
      const b = weight * pairs[p + 1]!;
      const larger = Math.max(Math.abs(a), Math.abs(b));
      if (visit(depth + 1, low + Math.min(a, b), high + Math.max(a, b), size + larger)) return true;
    }
    return false;
  };
  return visit(0, 0, 0, 0);
}

interface Reach {
  low: number;
  high: number;
  size: number;
}

/** What the terms from each depth on can still add. */
function reachOfRest(terms: readonly Term[]): Reach[] {
  const rest = new Array<Reach>(terms.length + 1);
  let next: Reach = { low: 0, high: 0, size: 0 };
  rest[terms.length] = next;
  for (let depth = terms.length - 1; depth >= 0; depth--) {
    const { weight, pairs } = terms[depth]!;
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (let p = 0; p < pairs.length; p++) {
      const end = weight * pairs[p]!;
      if (end < low) low = end;
      if (end > high) high = end;
    }
    const size = next.size + Math.max(Math.abs(low), Math.abs(high));
    next = { low: next.low + low, high: next.high + high, size };
    rest[depth] = next;
  }
  return rest;
}

interface Term {
  readonly weight: number;
  /** Intervals of the part's value, as flat pairs. */
  readonly pairs: readonly number[];
}

/** Enumerates the widest parts first, as long as the combinations stay within {@link COMBINATIONS}. */
function chooseTerms(search: Search, kept: readonly Part[], scaledValue: number): Term[] | undefined {
  const widest = [...kept].sort((a, b) => widthOf(b) - widthOf(a));
  let combinations = 1;
  let refined = false;
  const terms = widest.map((part): Term => {
    const whole = { weight: part.weight, pairs: [part.low, part.high] };
    if (widthOf(part) <= WORTHWHILE * scaledValue || !isRefinable(part)) return whole;
    const pairs = refineOnce(search, part);
    if (pairs === undefined || (combinations * pairs.length) / 2 > COMBINATIONS) return whole;
    combinations *= pairs.length / 2;
    refined = true;
    return { weight: part.weight, pairs };
  });
  return refined ? terms : undefined;
}

function refineOnce({ row, refined, effort }: Search, part: Part): readonly number[] | undefined {
  if (refined.has(part)) return refined.get(part);
  const pairs = effort.left > 0 ? refinePart(part) : undefined;
  if (pairs !== undefined && row.combination === 'sum' && part.zero !== 'never') pairs.push(0, 0);
  effort.left -= pairs?.length ?? 0;
  refined.set(part, pairs);
  return pairs;
}

function widthOf(part: Part): number {
  return Math.abs(part.weight) * (part.high - part.low);
}
