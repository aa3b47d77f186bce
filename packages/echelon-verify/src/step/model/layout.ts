/** Micro-batches and ranks of a step, and what they count. Everything here is an integer. */

import type { StepBatch } from '../../format/step-batch.ts';
import type { AggregationSettings } from '../../format/step-settings.ts';

type Counted = AggregationSettings['counts'];
type Scope = AggregationSettings['scope'];
/** Scopes whose tokens and rows are among those of the step. */
type OwnScope = Exclude<Scope, 'window'>;

/** Counts of tokens and rows over rows, micro-batches, ranks and the whole step. */
export interface Layout {
  readonly microBatches: number;
  readonly ranks: number;
  /** Ranks of the training whose micro-batches the step does not have. */
  readonly missingRanks: number;
  readonly groups: number;
  readonly hasGroups: boolean;
  readonly hasWidths: boolean;
  /** Index of the row's micro-batch. */
  microBatchOf(row: number): number;
  /** Micro-batches of the rank of a micro-batch. */
  microBatchesOfRank(microBatch: number): number;
  /** Counted tokens of the row, at least 1 as trainers divide. */
  tokensOfRow(row: number, settings: Pick<AggregationSettings, 'counts'>): number;
  /** Counted tokens in the scope of the row, at least 1; those of a window in proportion to its micro-batches. */
  tokensOf(row: number, settings: Pick<AggregationSettings, 'counts' | 'scope'>): number;
  /** Counted tokens of the step, a row without any counts as one. */
  tokensWithEmptyRows(counts: Counted): number;
  tokensOfGroup(row: number, settings: Pick<AggregationSettings, 'counts'>): number;
  /** Rows in the scope of the row, at least 1; a configured number has precedence. */
  rowsOf(row: number, settings: AggregationSettings): number;
  /** Counted tokens of a micro-batch. */
  tokensOfMicroBatch(microBatch: number, counts: Counted): number;
  /** Rows of a micro-batch. */
  rowsOfMicroBatch(microBatch: number): number;
  widthOf(row: number): number;
}

/** Counts of one kind of tokens. */
interface Counts {
  readonly row: Int32Array;
  readonly group: Float64Array;
  readonly scopes: Readonly<
    Record<OwnScope, { tokens: Float64Array; rows: Float64Array; trained: Float64Array }>
  >;
}

/** The layout of a step. Columns that are omitted count as the format's defaults say. */
export function layoutOf(batch: StepBatch): Layout {
  const { microBatches } = batch.step;
  const ranks = [...new Set(microBatches.map(({ rank }) => rank))];
  const rankOf = microBatches.map(({ rank }) => ranks.indexOf(rank));
  const perRank = ranks.map((_, at) => rankOf.filter((rank) => rank === at).length);
  const microBatchOf = (row: number): number => batch.microBatch?.[row] ?? 0;
  const known = new Map<Counted, Counts>();
  const countsOf = (counted: Counted): Counts => {
    const found = known.get(counted) ?? countAll(batch, counted, { microBatchOf, rankOf });
    known.set(counted, found);
    return found;
  };
  const placeOf = (row: number, scope: OwnScope): number => {
    if (scope === 'global') return 0;
    return scope === 'rank' ? rankOf[microBatchOf(row)]! : microBatchOf(row);
  };
  const groupOf = (row: number): number => batch.group?.ids[row] ?? 0;
  return {
    microBatches: microBatches.length,
    ranks: batch.step.dataParallelSize ?? ranks.length,
    missingRanks: Math.max(0, (batch.step.dataParallelSize ?? 0) - ranks.length),
    groups: batch.group?.names.length ?? 1,
    hasGroups: batch.group !== undefined,
    hasWidths: microBatches.every(({ width }) => width !== undefined),
    microBatchOf,
    microBatchesOfRank: (microBatch) => perRank[rankOf[microBatch]!]!,
    tokensOfRow: (row, { counts }) => Math.max(1, countsOf(counts).row[row]!),
    tokensOf: (row, { counts, scope }) =>
      scope === 'window'
        ? windowTokens(batch.step, perRank[rankOf[microBatchOf(row)]!]!)
        : Math.max(1, countsOf(counts).scopes[scope].tokens[placeOf(row, scope)]!),
    tokensWithEmptyRows: (counts) => countsOf(counts).row.reduce((sum, count) => sum + Math.max(1, count), 0),
    tokensOfGroup: (row, { counts }) => Math.max(1, countsOf(counts).group[groupOf(row)]!),
    rowsOf(row, { counts, scope, rowCount }) {
      if (typeof rowCount === 'number') return rowCount;
      const own = scope === 'window' ? 'global' : scope;
      const { rows, trained } = countsOf(counts).scopes[own];
      return Math.max(1, (rowCount === 'all' ? rows : trained)[placeOf(row, own)]!);
    },
    tokensOfMicroBatch: (microBatch, counts) => countsOf(counts).scopes['micro-batch'].tokens[microBatch]!,
    rowsOfMicroBatch: (microBatch) => countsOf('mask').scopes['micro-batch'].rows[microBatch]!,
    widthOf: (row) => microBatches[microBatchOf(row)]!.width ?? Number.NaN,
  };
}

/** The share of so many micro-batches of a rank in the tokens of the rollout batch. */
const windowTokens = ({ window }: StepBatch['step'], microBatches: number): number =>
  window === undefined ? Number.NaN : (Math.max(1, window.tokens) * microBatches) / window.microBatches;

/** The integers of a layout by which a gradient can be multiplied or divided once too often, by name. */
export function integersOf({ step }: StepBatch, layout: Layout): [string, number][] {
  const perRank = layout.microBatchesOfRank(0);
  const named: [string, number][] = [
    ['ranks', layout.ranks],
    ['micro-batches of a rank', perRank],
    ['ranks times micro-batches', layout.ranks * perRank],
    ['context-parallel size', step.contextParallelSize ?? 1],
  ];
  return named.filter(([, integer]) => integer !== 1);
}

function countAll(
  batch: StepBatch,
  counted: Counted,
  { microBatchOf, rankOf }: { microBatchOf: (row: number) => number; rankOf: readonly number[] },
): Counts {
  const { rows } = batch;
  const flags = flagsOf(batch, counted);
  const { offset } = batch.tokens;
  const row = new Int32Array(rows);
  const group = new Float64Array(batch.group?.names.length ?? 1);
  const sums = (size: number) => ({
    tokens: new Float64Array(size),
    rows: new Float64Array(size),
    trained: new Float64Array(size),
  });
  const { length } = batch.step.microBatches;
  const scopes = { global: sums(1), rank: sums(length), 'micro-batch': sums(length) };
  for (let at = 0; at < rows; at++) {
    const end = offset[at + 1]!;
    let count = flags === undefined ? end - offset[at]! : 0;
    if (flags !== undefined) for (let token = offset[at]!; token < end; token++) count += flags[token]!;
    row[at] = count;
    group[batch.group?.ids[at] ?? 0]! += count;
    const microBatch = microBatchOf(at);
    add(scopes.global, 0, count);
    add(scopes.rank, rankOf[microBatch]!, count);
    add(scopes['micro-batch'], microBatch, count);
  }
  return { row, group, scopes };
}

function add(
  { tokens, rows, trained }: { tokens: Float64Array; rows: Float64Array; trained: Float64Array },
  at: number,
  count: number,
): void {
  tokens[at]! += count;
  rows[at]! += 1;
  trained[at]! += count > 0 ? 1 : 0;
}

/** The flags of the counted tokens; undefined: every token. */
export function flagsOf({ tokens }: StepBatch, counted: Counted): Uint8Array | undefined {
  if (counted === 'all') return undefined;
  if (counted === 'mask') return tokens.mask;
  return counted === 'kept' ? (tokens.kept ?? tokens.mask) : (tokens.sampled ?? tokens.mask);
}
