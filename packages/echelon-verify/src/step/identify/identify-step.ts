/** Names the arithmetic that gave the numbers of a step, if it is not the stated one. Inference is evidence, not a pass. */

import { type StepModel, stepModel } from '../chain.ts';
import type { StepPrecision } from '../format/settings.ts';
import type { StepBatch } from '../format/step-batch.ts';
import { CODE, judge } from '../judge.ts';
import { type Layout, layoutOf } from '../layout.ts';
import { precisionOf, verifyStep } from '../verify-step.ts';
import { aggregationChanges } from './aggregation-changes.ts';
import { type Change, DIMENSIONS, type Dimension } from './change.ts';
import { clipEdges, constantFactor, denominatorNames, valueNames } from './clues.ts';
import { klChanges } from './kl-changes.ts';
import { lossChanges, oldChanges } from './loss-changes.ts';
import { scaleChanges } from './scale-changes.ts';
import { weightChanges } from './weight-changes.ts';

/** Tokens that are tried at most; rows are taken evenly. */
const MAX_TRIED = 20_000;
/** Explanations that are listed at most. */
const MAX_LISTED = 12;

/** What explains the gradient coefficients, the reported values and the denominators. */
export interface StepIdentification {
  name: string;
  /** Trained tokens that were compared. */
  tokens: number;
  /** Tokens that the stated arithmetic explains; null if it cannot be computed. */
  statedExplains: number | null;
  /** What the gradient coefficients cannot be compared for. */
  lacks: string[];
  /** Changes of the stated arithmetic that explain every token; each has the fewest changes that do. */
  explanations: string[][];
  /** How to separate explanations that fit equally. */
  separate: string | null;
  /** Facts that are read off the numbers: where gradients stop, what reported values and denominators are. */
  clues: string[];
}

/** Identifies the arithmetic of a step. */
export function identifyStep(batch: StepBatch): StepIdentification {
  const { precision } = precisionOf(batch);
  const layout = layoutOf(batch);
  const model = stepModel(batch, precision, layout);
  const lacks = [
    ...model.lacks.gradient,
    ...(batch.tokens.lossGradient === undefined ? ['tokens.lossGradient'] : []),
  ];
  const rows = sampled(batch);
  const clues = [
    ...clipEdges(batch, model),
    ...denominatorNames(model),
    ...valueNames(model, verifyStep(batch)),
  ];
  const base = { name: batch.name, lacks, clues, separate: null };
  if (batch.tokens.lossGradient === undefined)
    return { ...base, tokens: 0, statedExplains: null, explanations: [] };
  const stated = lacks.length === 0 ? explained(model, rows, false) : undefined;
  const tokens = stated?.tokens ?? 0;
  if (stated !== undefined && stated.right === stated.tokens)
    return { ...base, tokens, statedExplains: stated.right, explanations: [] };
  const explanations = search(batch, { layout, precision, rows });
  const factor = explanations.length === 0 ? constantFactor(model) : [];
  return {
    ...base,
    clues: [...factor, ...clues],
    tokens,
    statedExplains: stated?.right ?? null,
    explanations: explanations.slice(0, MAX_LISTED).map((changes) => changes.map(({ text }) => text)),
    separate: explanations.length > 1 ? separation(explanations) : null,
  };
}

interface Context {
  readonly layout: Layout;
  readonly precision: StepPrecision;
  readonly rows: readonly number[];
}

/** All single changes that explain every token; if there are none, all pairs, then triples with a scale. */
function search(batch: StepBatch, context: Context): Change[][] {
  const byDimension = changesOf(batch, context.layout);
  const fits = (changes: readonly Change[]): boolean => {
    const changed = changes.reduce((one, { apply }) => apply(one), batch);
    const model = stepModel(changed, context.precision, context.layout);
    if (model.lacks.gradient.length > 0) return false;
    const { tokens, right } = explained(model, context.rows, true);
    return tokens > 0 && right === tokens;
  };
  const all = DIMENSIONS.flatMap((dimension) => byDimension[dimension].map((change) => [change]));
  const single = all.filter(fits);
  if (single.length > 0) return single;
  const pairs = all.flatMap(([first]) => later(byDimension, first!).map((second) => [first!, second]));
  const double = pairs.filter(fits);
  if (double.length > 0) return double;
  const scaledPairs = pairs
    .filter(([a]) => a!.dimension === 'aggregation')
    .flatMap(([a, b]) =>
      b!.dimension === 'scale' ? later(byDimension, b!).map((third) => [a!, b!, third]) : [],
    );
  return scaledPairs.filter(fits);
}

function later(byDimension: Readonly<Record<Dimension, readonly Change[]>>, { dimension }: Change): Change[] {
  return DIMENSIONS.slice(DIMENSIONS.indexOf(dimension) + 1).flatMap((next) => byDimension[next]);
}

function changesOf(batch: StepBatch, layout: Layout): Record<Dimension, Change[]> {
  return {
    aggregation: aggregationChanges(batch, layout),
    scale: scaleChanges(batch, layout),
    loss: lossChanges(batch),
    old: oldChanges(batch),
    weight: weightChanges(batch),
    kl: klChanges(batch),
  };
}

/** Rows that are tried: all, or evenly spread ones. */
function sampled({ rows, tokens }: StepBatch): number[] {
  const every = Math.max(1, Math.ceil(tokens.offset[rows]! / MAX_TRIED));
  return Array.from({ length: Math.ceil(rows / every) }, (_, at) => at * every);
}

/** Trained tokens, and those whose gradient coefficient the model admits. `atFirst`: stops at the first that it does not. */
function explained(
  model: StepModel,
  rows: readonly number[],
  atFirst: boolean,
): { tokens: number; right: number } {
  const { batch, kept, chain } = model;
  const { offset, lossGradient } = batch.tokens;
  let tokens = 0;
  let right = 0;
  for (const row of rows) {
    model.startRow(row);
    for (let token = offset[row]!; token < offset[row + 1]!; token++) {
      if (kept?.[token] === 0) continue;
      tokens++;
      model.evaluate(row, token);
      const code = judge(lossGradient![token]!, chain.gradient, 0);
      if (code === CODE.exact || code === CODE.rounding) right++;
      else if (atFirst) return { tokens, right };
    }
  }
  return { tokens, right };
}

const SEPARATE: Readonly<Record<Dimension, string>> = {
  aggregation:
    'micro-batches with unequal numbers of tokens and rows, rows of unequal length, and truncated or masked tokens',
  scale: 'different numbers of ranks, micro-batches and context-parallel ranks',
  loss: 'tokens of both signs of the advantage beyond every clip edge, as in a second update on the same rollouts',
  old: 'a second update on the same rollouts, and rollout log-probs that differ from the old ones',
  weight: 'rollout weights beyond the limits, and rows whose weights differ',
  kl: 'log-probs far from the reference policy',
};

function separation(explanations: readonly (readonly Change[])[]): string {
  const dimensions = new Set(explanations.flat().map(({ dimension }) => dimension));
  return `Capture a step with ${[...dimensions].map((dimension) => SEPARATE[dimension]).join('; ')}.`;
}
