/** The denominators of losses: what divides the loss of a token, and those that micro-batches and rows report. */

import type { StepBatch } from '../../format/step-batch.ts';
import type { AggregationSettings } from '../../format/step-settings.ts';
import { aggregationOf } from '../model/aggregations.ts';
import type { Layout } from '../model/layout.ts';
import { lacking, type StepModel } from '../model/model.ts';
import type { StepStage } from './stage.ts';

/** Each mode of ../model/aggregations.ts has its own. They are integers, without an error. */
export const DENOMINATOR: StepStage = {
  isFactor: true,
  needs: [],
  lacksBeside: ({ step: { aggregation } }) =>
    aggregation !== undefined && aggregationOf(aggregation.mode)?.isFree
      ? ['an aggregation that counts']
      : [],
};

/** What the denominators lack. */
export function lackingAggregation(batch: StepBatch, layout: Layout): string[] {
  const { aggregation, kl } = batch.step;
  if (aggregation === undefined) return ['step.aggregation'];
  const lacks = batch.microBatch === undefined && layout.microBatches > 1 ? ['microBatch'] : [];
  for (const settings of [aggregation, ...(kl?.aggregation ? [kl.aggregation] : [])]) {
    const mode = aggregationOf(settings.mode);
    if (mode === undefined) lacks.push(`a known mode (step.aggregation.mode is ${settings.mode})`);
    else {
      lacks.push(...(mode.needs?.(settings, layout) ?? []).map((key) => `step.aggregation.${key}`));
      if (mode.counts(settings)) lacks.push(...lackingScope(batch, settings, layout));
    }
    if (settings.counts === 'sampled') lacks.push(...lacking(batch, ['sampled']));
    // With `kept` alone, the mask before rejection is not known.
    if (settings.counts === 'mask' && batch.tokens.kept !== undefined)
      lacks.push(...lacking(batch, ['mask']));
  }
  return lacks;
}

/** What a count over the scope lacks: other ranks, or the rest of the rollout batch. */
function lackingScope({ step }: StepBatch, { mode, scope }: AggregationSettings, layout: Layout): string[] {
  const isOfAll = scope === 'global' || scope === 'window' || mode === 'prompt-mean';
  return [
    ...(isOfAll ? lackingRanks(layout) : []),
    ...(scope === 'window' && step.window === undefined ? ['step.window'] : []),
  ];
}

/** Ranks that are not recorded, or not in the files that were given. */
export function lackingRanks({ missingRanks, ranks }: Layout): string[] {
  return missingRanks === 0 ? [] : [`the files of ${missingRanks} other of ${ranks} ranks`];
}

/** The factor that makes the update the stated aggregation: gradients are averaged or summed over ranks, and added over micro-batches. */
export function neutralScale(
  { step }: StepBatch,
  layout: Layout,
  microBatch: number,
  settings: AggregationSettings | undefined = step.aggregation,
): number {
  const ranks = (step.gradientReduction ?? 'mean') === 'mean' ? layout.ranks : 1;
  const scope = settings?.scope ?? 'global';
  if (scope === 'global' || scope === 'window') return ranks;
  const share = ranks / layout.ranks;
  const isAdded = scope === 'rank' || settings?.microBatches === 'sum';
  return isAdded ? share : share / layout.microBatchesOfRank(microBatch);
}

/** What divides the loss of a token of each row, by a known mode. */
export function divisorsOf(batch: StepBatch, layout: Layout, settings: AggregationSettings): Float64Array {
  const mode = aggregationOf(settings.mode)!;
  return Float64Array.from({ length: batch.rows }, (_, row) => mode.divide(layout, row, settings));
}

/** One reported denominator. */
export interface DenominatorCheck {
  /** "micro-batch 3" or "row 3". */
  readonly place: string;
  /** A row of the place. */
  readonly row: number;
  readonly reported: number;
  readonly expected: number;
  readonly isRight: boolean;
}

/**
 * Compares every reported denominator. Counts are integers, so they are equal or not; a denominator that is no integer, such
 * as TRL's, may be rounded to float32. Undefined if none is reported or the aggregation cannot be computed.
 */
export function checkDenominators({ batch, lacks, layout }: StepModel): DenominatorCheck[] | undefined {
  const { aggregation, microBatches } = batch.step;
  if (aggregation === undefined || lacks.aggregation.length > 0) return undefined;
  const mode = aggregationOf(aggregation.mode)!;
  const firstRow = new Map<number, number>();
  for (let row = batch.rows - 1; row >= 0; row--) firstRow.set(layout.microBatchOf(row), row);
  const ofMicroBatches = microBatches.flatMap(({ reportedDenominator: reported }, microBatch) => {
    const row = firstRow.get(microBatch);
    // A stated divisor is no count of anything: the trainer's own number would be compared with itself.
    if (reported === undefined || row === undefined || !mode.counts(aggregation)) return [];
    const expected = (mode.common ?? mode.divide)(layout, row, aggregation);
    return [compared({ place: `micro-batch ${microBatch}`, row, reported, expected })];
  });
  const { own } = mode;
  const { reportedDenominator: ofRows } = batch;
  if (own === undefined || ofRows === undefined) return ofMicroBatches;
  const rows = Array.from(ofRows, (reported, row) => {
    const expected = own(layout, row, aggregation);
    return compared({ place: `row ${row}`, row, reported: Math.max(1, reported), expected });
  });
  return [...ofMicroBatches, ...rows];
}

function compared(found: Omit<DenominatorCheck, 'isRight'>): DenominatorCheck {
  const { reported, expected } = found;
  const isNear = !Number.isInteger(expected) && Math.fround(reported) === Math.fround(expected);
  return { ...found, isRight: reported === expected || isNear };
}
