/** Joins what the ranks of a training recorded of one optimizer step, each in a file of its own. */

import { groupedBy } from '../base/grouped-by.ts';
import { present } from '../base/present.ts';
import type { Names, StepBatch, StepTokens } from './step-batch.ts';
import { COLUMN_KEYS, type ColumnKey } from './step-columns.ts';
import type { StepSettings } from './step-settings.ts';

/** What names the step of which a batch has some of the ranks; undefined for a batch that has all of them, or names no run. */
export function partOf({ step, name }: StepBatch): string | undefined {
  const { run, optimizerStep, dataParallelSize = 1 } = step;
  if (run === undefined || ranksOf(step).length >= dataParallelSize) return undefined;
  return JSON.stringify([run, optimizerStep ?? name]);
}

const ranksOf = ({ microBatches }: StepSettings): number[] =>
  [...new Set(microBatches.map(({ rank }) => rank))].sort((a, b) => a - b);

/**
 * The step of parts that {@link partOf} names alike, the ranks in order. The parts as they are if a rank is in two of them, or if
 * they state different settings: each says why.
 */
export function joinParts(parts: readonly StepBatch[]): StepBatch[] {
  if (parts.length === 1) return [...parts];
  const byRank = groupedBy(
    parts.flatMap((part) => ranksOf(part.step).map((rank) => ({ rank, part }))),
    ({ rank }) => rank,
  );
  const repeated = [...byRank].filter(([, own]) => own.length > 1).map(([rank]) => rank);
  if (repeated.length > 0)
    return parts.map((part) => ({ ...part, notJoined: { reason: 'repeated', ranks: repeated } }));
  const first = settingsText(parts[0]!);
  const others = parts.filter((part) => settingsText(part) !== first).flatMap(({ step }) => ranksOf(step));
  if (others.length > 0)
    return parts.map((part) => ({ ...part, notJoined: { reason: 'disagree', ranks: others } }));
  return [joined([...parts].sort((a, b) => ranksOf(a.step)[0]! - ranksOf(b.step)[0]!))];
}

/** Everything that a step states but what each rank has for itself. */
function settingsText({ step }: StepBatch): string {
  const { microBatches: _, window, rowDigests: _rows, sourceDigests: _sources, ...shared } = step;
  const sorted = Object.entries(shared).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([sorted, window?.microBatches]);
}

function joined(parts: readonly StepBatch[]): StepBatch {
  const [{ name, note, step }] = parts as [StepBatch];
  const starts = startsOf(parts.map(({ step: { microBatches } }) => microBatches.length));
  const windows = parts.flatMap(({ step: { window } }) => window ?? []);
  const window = { ...windows[0]!, tokens: windows.reduce((sum, { tokens }) => sum + tokens, 0) };
  return {
    name,
    rows: parts.reduce((sum, { rows }) => sum + rows, 0),
    step: {
      ...step,
      microBatches: parts.flatMap(({ step: { microBatches } }) => microBatches),
      ...(windows.length === parts.length ? { window } : {}),
      ...joinedDigests(parts, 'rowDigests'),
      ...joinedDigests(parts, 'sourceDigests'),
    },
    tokens: joinedTokens(parts),
    microBatch: Int32Array.from(
      parts.flatMap(({ microBatch, rows }, at) =>
        Array.from({ length: rows }, (_, row) => starts[at]! + (microBatch?.[row] ?? 0)),
      ),
    ),
    ...present({
      note,
      group: joinedNames(parts.map(({ group }) => group)),
      trajectory: joinedNames(parts.map(({ trajectory }) => trajectory)),
      policyVersionStart: joinedColumn(parts.map((part) => part.policyVersionStart)),
      policyVersionEnd: joinedColumn(parts.map((part) => part.policyVersionEnd)),
      reportedAdvantage: joinedColumn(parts.map((part) => part.reportedAdvantage)),
      reportedDenominator: joinedColumn(parts.map((part) => part.reportedDenominator)),
      idTexts: parts.find(({ idTexts }) => idTexts !== undefined)?.idTexts,
    }),
  };
}

function joinedDigests(parts: readonly StepBatch[], key: 'rowDigests' | 'sourceDigests') {
  const all = parts.flatMap(({ step }) => (step[key] === undefined ? [] : [step[key]]));
  return all.length < parts.length ? {} : { [key]: all.flat() };
}

/** The sums of the numbers before each. */
function startsOf(lengths: readonly number[]): number[] {
  let sum = 0;
  return lengths.map((length) => {
    sum += length;
    return sum - length;
  });
}

function joinedTokens(parts: readonly StepBatch[]): StepTokens {
  const starts = startsOf(parts.map(({ tokens: { offset }, rows }) => offset[rows]!));
  const ends = parts.flatMap(({ tokens: { offset } }, at) =>
    Array.from(offset.subarray(1), (end) => end + starts[at]!),
  );
  const own = COLUMN_KEYS.map((key: ColumnKey) => [
    key,
    joinedColumn(parts.map(({ tokens }) => tokens[key])),
  ]);
  return { offset: Int32Array.from([0, ...ends]), ...present(Object.fromEntries(own) as StepTokens) };
}

/** Undefined if one of the parts lacks the column. */
function joinedColumn<T extends Float32Array | Int32Array | Uint8Array>(
  columns: readonly (T | undefined)[],
): T | undefined {
  const all = columns.flatMap((column) => column ?? []);
  if (all.length < columns.length) return undefined;
  const Kind = all[0]!.constructor as new (length: number) => T;
  const whole = new Kind(all.reduce((sum, { length }) => sum + length, 0));
  const starts = startsOf(all.map(({ length }) => length));
  all.forEach((column, at) => {
    whole.set(column, starts[at]);
  });
  return whole;
}

function joinedNames(columns: readonly (Names | undefined)[]): Names | undefined {
  const all = columns.flatMap((column) => column ?? []);
  if (all.length < columns.length) return undefined;
  const names = [...new Set(all.flatMap((one) => one.names))];
  const index = new Map(names.map((name, at) => [name, at]));
  return {
    names,
    ids: Int32Array.from(all.flatMap((one) => Array.from(one.ids, (id) => index.get(one.names[id]!)!))),
  };
}
