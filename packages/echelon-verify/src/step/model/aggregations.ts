/** How losses of tokens become the loss of a step. */

import type { AggregationSettings } from '../../format/step-settings.ts';
import type { Layout } from './layout.ts';

/** A mode of aggregation. Every denominator is made of integers, so it is exact. */
export interface Aggregation {
  readonly mode: string;
  /** The divisor of a token, as text. */
  readonly divisor: string;
  /** Where trainers have it. */
  readonly source: string;
  /** True if the divisor is any stated number, which may hold ranks or accumulation steps: no scale beside it is the neutral one. */
  readonly isFree?: true;
  /** True if the divisor counts tokens, rows or groups of the scope, so that it needs all of the scope's ranks. */
  counts(settings: AggregationSettings): boolean;
  /** What the mode needs and the step does not state, as names of keys. */
  needs?(settings: AggregationSettings, layout: Layout): string[];
  /** The number by which the loss of each token of a row is divided. */
  divide(layout: Layout, row: number, settings: AggregationSettings): number;
  /** The part of the divisor that all rows of the scope share. Omitted: all of it. */
  common?(layout: Layout, row: number, settings: AggregationSettings): number;
  /** The part that is the row's own. Omitted: none. */
  own?(layout: Layout, row: number, settings: AggregationSettings): number;
}

/** A configured number of rows needs no count. */
const countsRows = ({ rowCount }: AggregationSettings): boolean => typeof rowCount !== 'number';

/** Every mode of aggregation. */
export const AGGREGATIONS: readonly Aggregation[] = [
  /** Σ loss / N, N the counted tokens of the scope. */
  {
    mode: 'token-mean',
    divisor: 'counted tokens',
    source:
      'verl and SkyRL token-mean; NeMo-RL token level; prime-rl; TRL bnpo (scope micro-batch) and dapo, cispo, vespo (scope window)',
    counts: () => true,
    divide: (layout, row, settings) => layout.tokensOf(row, settings),
  },
  /** The mean over rows of the mean over the tokens of a row. */
  {
    mode: 'seq-mean-token-mean',
    divisor: 'rows · counted tokens of the row',
    source:
      'verl seq-mean-token-mean; TRL grpo and sapo (scope micro-batch); NeMo-RL sequence level; SkyRL sequence_mean',
    counts: countsRows,
    divide: (layout, row, settings) => layout.rowsOf(row, settings) * layout.tokensOfRow(row, settings),
    common: (layout, row, settings) => layout.rowsOf(row, settings),
    own: (layout, row, settings) => layout.tokensOfRow(row, settings),
  },
  /** The mean over rows of the sum over the tokens of a row. */
  {
    mode: 'seq-mean-token-sum',
    divisor: 'rows',
    source: 'verl seq-mean-token-sum; TRL luspo (scope micro-batch)',
    counts: countsRows,
    divide: (layout, row, settings) => layout.rowsOf(row, settings),
  },
  /** seq-mean-token-sum ÷ a constant; without one, ÷ the padded width of the row's own micro-batch. */
  {
    mode: 'seq-mean-token-sum-norm',
    divisor: 'rows · `scaleFactor` (omitted: the width of the micro-batch)',
    source: 'verl and SkyRL seq-mean-token-sum-norm; TRL dr_grpo',
    counts: countsRows,
    needs: ({ scaleFactor }, { hasWidths }) =>
      scaleFactor === undefined && !hasWidths ? ['scaleFactor', 'microBatches[].width'] : [],
    divide: (layout, row, settings) =>
      layout.rowsOf(row, settings) * (settings.scaleFactor ?? layout.widthOf(row)),
    common: (layout, row, settings) => layout.rowsOf(row, settings),
  },
  /** Σ loss. */
  {
    mode: 'token-sum',
    divisor: '1',
    source: 'verl token-sum',
    counts: () => false,
    divide: () => 1,
  },
  /** The token mean of each micro-batch, weighted with its share of the rows. It depends on how rows are split. */
  {
    mode: 'token-mean-by-rows',
    divisor: 'counted tokens of the micro-batch · all rows / rows of the micro-batch',
    source: 'verl-agent and verl legacy with dynamic batch size',
    counts: () => true,
    divide: (layout, row, settings) => {
      const microBatch = layout.microBatchOf(row);
      const tokens = layout.tokensOf(row, { ...settings, scope: 'micro-batch' });
      return (
        (tokens * layout.rowsOf(row, { ...settings, scope: 'global' })) / layout.rowsOfMicroBatch(microBatch)
      );
    },
  },
  /** The mean over groups of the mean over the tokens of a group. */
  {
    mode: 'prompt-mean',
    divisor: 'groups · counted tokens of the group',
    source: 'SkyRL prompt_mean; slime (its groups are rollouts)',
    counts: () => true,
    needs: (_settings, { hasGroups }) => (hasGroups ? [] : ['group']),
    divide: (layout, row, settings) => layout.groups * layout.tokensOfGroup(row, settings),
    common: (layout) => layout.groups,
    own: (layout, row, settings) => layout.tokensOfGroup(row, settings),
  },
  /** Σ loss / a stated number, such as TRL's expected count of a window. */
  {
    mode: 'constant',
    divisor: '`denominator`',
    source: 'a divisor of the settings, such as that of TRL dr_grpo',
    isFree: true,
    counts: () => false,
    needs: ({ denominator }) => (denominator === undefined ? ['denominator'] : []),
    divide: (_layout, _row, { denominator }) => denominator!,
  },
];

/** The mode with a name; undefined if there is none. */
export function aggregationOf(mode: string): Aggregation | undefined {
  return AGGREGATIONS.find((one) => one.mode === mode);
}
