/** Names the arithmetic that gave the numbers of a step, if it is not the stated one. Inference is evidence, not a pass. */

import { groupedBy } from '../../base/grouped-by.ts';
import type { StepBatch } from '../../format/step-batch.ts';
import type { StepPrecision } from '../../format/step-settings.ts';
import { CODE, judge } from '../../step/model/judge.ts';
import { type Layout, layoutOf } from '../../step/model/layout.ts';
import type { StepModel } from '../../step/model/model.ts';
import { stepModel } from '../../step/stages/chain.ts';
import { precisionOf, verifyStep } from '../../step/verify-step.ts';
import { advantageChanges } from './advantage-changes.ts';
import { aggregationChanges } from './aggregation-changes.ts';
import { type Change, DIMENSIONS, type Dimension } from './change.ts';
import { clipEdges, denominatorNames, valueNames } from './clues.ts';
import { type NamedFactor, nameFactor } from './factor-names.ts';
import { factorOf, isFactor } from './fit.ts';
import { klChanges } from './kl-changes.ts';
import { lossChanges, oldChanges } from './loss-changes.ts';
import { solvedChanges } from './solved-changes.ts';
import { weightChanges } from './weight-changes.ts';
import { weightNames } from './weight-names.ts';

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
    ...weightNames(batch, { layout, precision }),
    ...denominatorNames(model),
    ...valueNames(model, verifyStep(batch)),
  ];
  const base = { name: batch.name, lacks, clues, separate: null };
  if (batch.tokens.lossGradient === undefined)
    return { ...base, tokens: 0, statedExplains: null, explanations: [] };
  const stated = lacks.length === 0 ? explained(model, rows) : undefined;
  const tokens = stated?.tokens ?? 0;
  if (stated !== undefined && stated.right === stated.tokens)
    return { ...base, tokens, statedExplains: stated.right, explanations: [] };
  const explanations = search(batch, { layout, precision, rows });
  return {
    ...base,
    tokens,
    statedExplains: stated?.right ?? null,
    explanations: explanations.slice(0, MAX_LISTED).map(textsOf),
    separate: explanations.length > 1 ? separation(explanations) : null,
  };
}

interface Context {
  readonly layout: Layout;
  readonly precision: StepPrecision;
  readonly rows: readonly number[];
}

/** Changes, and the factor by which the coefficients still differ. */
interface Fit {
  readonly changes: readonly Change[];
  readonly factor: NamedFactor | undefined;
}

const textsOf = ({ changes, factor }: Fit): string[] => [
  ...changes.map(({ text }) => text),
  ...(factor === undefined ? [] : [factor.text]),
];

/**
 * Explanations of every token, those with the fewest changes only. A factor that is made of integers of the layout counts as a change, one
 * that is solved for is looked for last: almost any arithmetic has one that fits a few tokens.
 */
function search(batch: StepBatch, context: Context): Fit[] {
  const byDimension = changesOf(batch, context);
  const fitOf = (changes: readonly Change[]): Fit[] => {
    const changed = changes.reduce((one, { apply }) => apply(one), batch);
    const model = stepModel(changed, context.precision, context.layout);
    if (model.lacks.gradient.length > 0) return [];
    const found = factorOf(model, context.rows);
    if (found === undefined) return [];
    const factor = isFactor(found, 1) ? undefined : nameFactor(changed, context.layout, found);
    return [{ changes, factor }];
  };
  const singles = DIMENSIONS.flatMap((dimension) => byDimension[dimension].map((change) => [change]));
  const alone = fitOf([]);
  const ofOne = singles.flatMap(fitOf);
  const isNamed = ({ factor }: Fit) => factor?.isNamed === true;
  const isWhole = ({ factor }: Fit) => factor === undefined;
  const single = [...ofOne.filter(isWhole), ...alone.filter(isNamed)];
  if (single.length > 0) return single;
  if (alone.length > 0) return alone;
  const pairs = singles.flatMap(([first]) => later(byDimension, first!).map((second) => [first!, second]));
  const ofTwo = pairs.flatMap(fitOf);
  const double = [...ofTwo.filter(isWhole), ...ofOne.filter(isNamed)];
  if (double.length > 0) return double;
  const triple = ofTwo.filter(isNamed);
  return triple.length > 0 ? triple : ofOne.filter(({ changes: [one] }) => one!.dimension !== 'aggregation');
}

function later(byDimension: Readonly<Record<Dimension, readonly Change[]>>, { dimension }: Change): Change[] {
  return DIMENSIONS.slice(DIMENSIONS.indexOf(dimension) + 1).flatMap((next) => byDimension[next]);
}

function changesOf(batch: StepBatch, context: Context): Record<Dimension, Change[]> {
  const { layout, precision } = context;
  const model = stepModel(batch, precision, layout);
  const solved = groupedBy(solvedChanges(batch, context), ({ dimension }) => dimension);
  const own: Record<Dimension, Change[]> = {
    aggregation: aggregationChanges(batch, layout),
    loss: lossChanges(batch),
    old: oldChanges(batch, precision),
    advantage: advantageChanges(batch, model.lacks.gradient.length === 0 ? model : undefined),
    weight: weightChanges(batch),
    kl: klChanges(batch),
  };
  for (const dimension of DIMENSIONS) own[dimension].push(...(solved.get(dimension) ?? []));
  return own;
}

/** Rows that are tried: all, or evenly spread ones. */
function sampled({ rows, tokens }: StepBatch): number[] {
  const every = Math.max(1, Math.ceil(tokens.offset[rows]! / MAX_TRIED));
  return Array.from({ length: Math.ceil(rows / every) }, (_, at) => at * every);
}

/** Trained tokens, and those whose gradient coefficient the model admits. */
function explained(model: StepModel, rows: readonly number[]): { tokens: number; right: number } {
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
    }
  }
  return { tokens, right };
}

const SEPARATE_FACTORS = 'different numbers of ranks, micro-batches and context-parallel ranks';
const SEPARATE: Readonly<Record<Dimension, string>> = {
  aggregation:
    'micro-batches with unequal numbers of tokens and rows, rows of unequal length, and truncated or masked tokens',
  advantage: 'rows with advantages that all differ',
  loss: 'tokens of both signs of the advantage beyond every clip edge, as in a second update on the same rollouts',
  old: 'a second update on the same rollouts, and rollout log-probs that differ from the old ones',
  weight: 'rollout weights beyond the limits, and rows whose weights differ',
  kl: 'log-probs far from the reference policy',
};

function separation(explanations: readonly Fit[]): string {
  const dimensions = new Set(
    explanations.flatMap(({ changes }) => changes.map(({ dimension }) => dimension)),
  );
  const all = [
    ...[...dimensions].map((dimension) => SEPARATE[dimension]),
    ...(explanations.some(({ factor }) => factor !== undefined) ? [SEPARATE_FACTORS] : []),
  ];
  return `Capture a step with ${all.join('; ')}.`;
}
