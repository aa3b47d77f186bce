/** The chain of one token: from its log-probs to its gradient coefficient, stage by stage, each with the trainer's possible error. */

import type { Interval } from '../../arithmetic/interval.ts';
import { around, emptyInterval, errorOf, exactly, include } from '../../arithmetic/interval.ts';
import type { StepBatch } from '../../format/step-batch.ts';
import type { AggregationSettings, StepPrecision } from '../../format/step-settings.ts';
import { expError, type StepArithmetic, stepArithmetic } from '../losses/arithmetic.ts';
import {
  emptyLoss,
  type LossParameters,
  type LossTerms,
  type PolicyLoss,
  type RowState,
  type RowTokens,
  type TokenState,
} from '../losses/loss.ts';
import { completeLoss, lossOf } from '../losses/registry.ts';
import { aggregationOf } from './aggregations.ts';
import { type CorrectionModel, correctionModel } from './correction.ts';
import { emptyKl, type KlModel, type KlTerms, klModel } from './kl.ts';
import { flagsOf, type Layout, layoutOf } from './layout.ts';
import {
  lackingAggregation,
  lackingGradient,
  lackingKl,
  lackingLoss,
  lackingRatio,
  lackingWeight,
} from './needs.ts';
import { type OffPolicyModel, offPolicyModel } from './off-policy.ts';

/**
 * Roundings of the gradient beside those of loss, weight and KL: the product with the weight, the row's count, the rows, a scale
 * factor, ranks and accumulation (each a division or a product), the mask, and up to three additions where autograd joins the
 * paths into one log-prob.
 */
const GRADIENT_ROUNDINGS = 12;

/** The stages of one token. Reused from token to token. */
export interface TokenChain {
  readonly state: TokenState;
  readonly ratio: Interval;
  /** Policy loss before weight and denominator, its derivative, and the side. */
  readonly loss: LossTerms;
  readonly weight: Interval;
  readonly kl: KlTerms;
  /** Parts of the gradient coefficient, with denominator and scale. */
  readonly policyPart: Interval;
  readonly klPart: Interval;
  readonly gradient: Interval;
}

/** What can be computed of a step. */
export interface StepModel {
  readonly batch: StepBatch;
  readonly layout: Layout;
  readonly arithmetic: StepArithmetic;
  readonly loss: PolicyLoss | undefined;
  readonly params: LossParameters;
  readonly chain: TokenChain;
  /** 1 for tokens that contribute to the loss; undefined: all do. */
  readonly kept: Uint8Array | undefined;
  /** What a stage lacks, by the names of columns and settings; empty: it can be computed. */
  readonly lacks: Readonly<
    Record<'ratio' | 'loss' | 'weight' | 'kl' | 'aggregation' | 'gradient', readonly string[]>
  >;
  /** What divides the loss of a token of the row, without the scale. */
  divisorOf(row: number): number;
  klDivisorOf(row: number): number;
  /** Factor between the aggregated loss and the one that was passed to `backward()`. */
  scaleOf(microBatch: number): number;
  /** The same for the KL term, whose aggregation may be its own. */
  klScaleOf(microBatch: number): number;
  advantageOf(row: number, token: number): number;
  /** The weight that the stated correction gives, whatever the batch reports. Undefined without what it needs. */
  readonly computedWeight: ((token: number, weight: Interval) => void) | undefined;
  /** Call it before the tokens of a row. */
  startRow(row: number): void;
  /** Fills the chain, as far as the batch has what it needs. */
  evaluate(row: number, token: number): TokenChain;
}

/** The model of a step in a precision. `layout`: that of the batch, if it is known. */
export function stepModel(
  batch: StepBatch,
  precision: StepPrecision,
  layout: Layout = layoutOf(batch),
): StepModel {
  const arithmetic = stepArithmetic(precision);
  const lacks = {
    ratio: lackingRatio(batch),
    loss: lackingLoss(batch),
    weight: lackingWeight(batch),
    kl: lackingKl(batch),
    aggregation: lackingAggregation(batch, layout),
    gradient: lackingGradient(batch, layout),
  };
  const parts = partsOf(batch, arithmetic, lacks);
  const { aggregation, kl } = batch.step;
  const canDivide = lacks.aggregation.length === 0;
  const divisors = canDivide ? divisorsOf(batch, layout, aggregation!) : undefined;
  const own = kl?.aggregation;
  const klDivisors = canDivide && own !== undefined ? divisorsOf(batch, layout, own) : divisors;
  const scales = batch.step.microBatches.map(
    ({ gradientScale, lossScale = 1 }, at) => gradientScale ?? lossScale * neutralScale(batch, layout, at),
  );
  // A constant factor beside the neutral one multiplies the whole loss, so the KL term's own aggregation as well.
  const klScales = scales.map((scale, at) =>
    own === undefined
      ? scale
      : (scale / neutralScale(batch, layout, at)) * neutralScale(batch, layout, at, own),
  );
  const chain = emptyChain();
  const model = {
    batch,
    layout,
    arithmetic,
    loss: parts.loss,
    params: parts.params,
    chain,
    kept: flagsOf(batch, 'kept'),
    computedWeight: parts.correction?.fill,
    lacks,
    divisorOf: (row: number) => divisors?.[row] ?? Number.NaN,
    klDivisorOf: (row: number) => klDivisors?.[row] ?? Number.NaN,
    scaleOf: (microBatch: number) => scales[microBatch]!,
    klScaleOf: (microBatch: number) => klScales[microBatch]!,
    advantageOf: (row: number, token: number) =>
      batch.tokens.reportedAdvantage?.[token] ?? batch.reportedAdvantage?.[row] ?? Number.NaN,
  };
  return { ...model, ...evaluation(model, parts) };
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

function divisorsOf(batch: StepBatch, layout: Layout, settings: AggregationSettings): Float64Array {
  const mode = aggregationOf(settings.mode)!;
  return Float64Array.from({ length: batch.rows }, (_, row) => mode.divide(layout, row, settings));
}

/** The parts of the arithmetic that are stated and complete. */
interface Parts {
  readonly loss: PolicyLoss | undefined;
  readonly params: LossParameters;
  readonly logRatioClamp: number;
  readonly correction: CorrectionModel | undefined;
  readonly offPolicy: OffPolicyModel | undefined;
  readonly kl: KlModel | undefined;
}

function partsOf(
  batch: StepBatch,
  arithmetic: StepArithmetic,
  lacks: Readonly<Record<'loss' | 'weight' | 'kl', readonly string[]>>,
): Parts {
  const { policyLoss, rolloutCorrection, kl } = batch.step;
  const { logProb, oldLogProb = logProb, rolloutLogProb } = batch.tokens;
  const known = lacks.loss.some((key) => key.includes('step.policyLoss')) ? undefined : policyLoss;
  const loss = known && lossOf(known.name);
  const complete = loss && completeLoss(loss, known.params);
  const params = complete !== undefined && 'params' in complete ? complete.params : {};
  const clamp = params.logRatioClamp;
  const correction =
    rolloutCorrection && oldLogProb && rolloutLogProb
      ? correctionModel(
          rolloutCorrection,
          { oldLogProb, rolloutLogProb, counted: batch.tokens.mask },
          arithmetic,
        )
      : undefined;
  const model = kl && kl.placement === 'loss' && lacks.kl.length === 0 ? klModel(kl) : undefined;
  return {
    loss,
    params,
    logRatioClamp: clamp === undefined || Number.isNaN(clamp) ? Number.POSITIVE_INFINITY : clamp,
    correction,
    offPolicy: offPolicyOf(batch, arithmetic),
    kl: model !== undefined && 'fill' in model ? model : undefined,
  };
}

function offPolicyOf(
  { step: { offPolicyMask }, tokens }: StepBatch,
  arithmetic: StepArithmetic,
): OffPolicyModel | undefined {
  const { logProb, oldLogProb = logProb, rolloutLogProb, mask: counted } = tokens;
  const sampledLogProb = offPolicyMask?.sampledBy === 'rollout' ? rolloutLogProb : oldLogProb;
  if (offPolicyMask === undefined || logProb === undefined || sampledLogProb === undefined) return undefined;
  return offPolicyModel(offPolicyMask, { logProb, sampledLogProb, counted }, arithmetic);
}

function emptyChain(): TokenChain {
  return {
    state: {
      logProb: -0,
      oldLogProb: -0,
      advantage: -0,
      logRatio: -0,
      ratio: Number.NaN,
      ratioError: -0,
      rowAdvantage: -0,
      rowAdvantageError: -0,
      moves: 1,
    },
    ratio: emptyInterval(),
    loss: emptyLoss(),
    weight: emptyInterval(),
    kl: emptyKl(),
    policyPart: emptyInterval(),
    klPart: emptyInterval(),
    gradient: emptyInterval(),
  };
}

/** The functions that fill the chain. What a row gives its tokens goes from one to the other. */
function evaluation(
  model: Omit<StepModel, 'startRow' | 'evaluate'>,
  parts: Parts,
): Pick<StepModel, 'startRow' | 'evaluate'> {
  const row: RowState = { ratio: Number.NaN, ratioError: -0, advantage: -0, advantageError: -0 };
  const joining = joiningOf(model, parts);
  return {
    startRow: rowStarter(model, parts, { row, joining }),
    evaluate: evaluator(model, parts, { row, joining }),
  };
}

interface OfRow {
  readonly row: RowState;
  readonly joining: Joining;
}

function rowStarter(
  model: Omit<StepModel, 'startRow' | 'evaluate'>,
  parts: Parts,
  { row, joining }: OfRow,
): StepModel['startRow'] {
  const { loss, params, correction, offPolicy, kl } = parts;
  const { offset } = model.batch.tokens;
  return (at) => {
    const [start, end] = [offset[at]!, offset[at + 1]!];
    const microBatch = model.layout.microBatchOf(at);
    joining.policyFactor = model.scaleOf(microBatch) / model.divisorOf(at);
    joining.klFactor =
      ((kl?.settings.coefficient ?? 0) * model.klScaleOf(microBatch)) / model.klDivisorOf(at);
    correction?.startRow(start, end);
    offPolicy?.startRow(start, end);
    if (model.lacks.loss.length > 0 || loss?.row === undefined) return;
    const tokens = rowTokens(model, parts, { row: at, start, end });
    loss.row(tokens, params, { row, arithmetic: model.arithmetic });
  };
}

function evaluator(
  { batch, arithmetic, chain, lacks }: Omit<StepModel, 'startRow' | 'evaluate'>,
  { loss, params, correction, offPolicy, kl, logRatioClamp }: Parts,
  { row, joining }: OfRow,
): StepModel['evaluate'] {
  const { logProb, oldLogProb = logProb, referenceLogProb, rolloutWeight } = batch.tokens;
  const [ofTokens, ofRows] = [batch.tokens.reportedAdvantage, batch.reportedAdvantage];
  const [canRatio, canLoss, canGradient] = (['ratio', 'loss', 'gradient'] as const).map(
    (stage) => lacks[stage].length === 0,
  );
  const fillLoss = loss?.bind(params, { out: chain.loss, arithmetic });
  const toKl = { out: chain.kl, arithmetic };
  const { state } = chain;
  return (at, token) => {
    if (!canRatio) return chain;
    state.logProb = logProb![token]!;
    state.oldLogProb = oldLogProb![token]!;
    fillRatio(chain, logRatioClamp, arithmetic);
    if (rolloutWeight !== undefined) exactly(chain.weight, rolloutWeight[token]!);
    else if (correction !== undefined) correction.fill(token, chain.weight);
    if (kl !== undefined) kl.fill(state.logProb - referenceLogProb![token]!, state, toKl);
    if (!canLoss) return chain;
    // Without `??`: a number that may be undefined is allocated for each token.
    if (ofTokens !== undefined) state.advantage = ofTokens[token]!;
    else state.advantage = ofRows === undefined ? Number.NaN : ofRows[at]!;
    if (loss!.row !== undefined) copyRow(row, state);
    fillLoss!(state);
    offPolicy?.apply(state.advantage, chain.loss);
    if (canGradient) fillGradient(joining);
    return chain;
  };
}

function copyRow(row: RowState, state: TokenState): void {
  state.ratio = row.ratio;
  state.ratioError = row.ratioError;
  state.rowAdvantage = row.advantage;
  state.rowAdvantageError = row.advantageError;
}

/** The tokens of a row that has what its loss needs. */
function rowTokens(
  { batch, chain, kept, advantageOf }: Omit<StepModel, 'startRow' | 'evaluate'>,
  { correction }: Parts,
  { row, start, end }: { row: number; start: number; end: number },
): RowTokens {
  const { logProb, oldLogProb = logProb, rolloutWeight } = batch.tokens;
  const settings = batch.step.rolloutCorrection;
  return {
    start,
    end,
    kept,
    logProb: logProb!,
    oldLogProb: oldLogProb!,
    advantageOf: (token) => advantageOf(row, token),
    hasRowWeight: settings?.level === 'sequence' && settings.keptWeight === 'statistic',
    logWeightOf: (token) => logWeight(token, chain.weight, { rolloutWeight, correction }),
    logWeightErrorOf(token) {
      if (rolloutWeight !== undefined || correction === undefined) return 0;
      correction.fill(token, chain.weight);
      const { value, low, high } = chain.weight;
      if (high === 0) return 0;
      return low === 0 ? Number.POSITIVE_INFINITY : errorOf(chain.weight) / value;
    },
  };
}

function logWeight(
  token: number,
  scratch: Interval,
  {
    rolloutWeight,
    correction,
  }: { rolloutWeight: Float32Array | undefined; correction: CorrectionModel | undefined },
): number {
  if (rolloutWeight !== undefined) return Math.log(rolloutWeight[token]!);
  if (correction === undefined) return 0;
  correction.fill(token, scratch);
  return Math.log(scratch.value);
}

/** The difference of two inputs rounds once; beyond a clamp the ratio is constant, and within the rounding of it either. */
function fillRatio({ state, ratio }: TokenChain, clamp: number, arithmetic: StepArithmetic): void {
  const difference = state.logProb - state.oldLogProb;
  const size = Math.abs(difference);
  const band = 2 * arithmetic.unit * size;
  state.logRatio = Math.max(-clamp, Math.min(clamp, difference));
  state.moves = size + band < clamp ? 1 : size - band > clamp ? 0 : -1;
  const exact = Math.exp(state.logRatio);
  around(ratio, exact, difference === 0 ? 0 : exact * expError(state.logRatio, arithmetic));
  state.ratio = ratio.value;
  state.ratioError = ratio.value === Number.POSITIVE_INFINITY ? 0 : errorOf(ratio);
}

/**
 * True if a number on the way to the loss leaves the range of the arithmetic, or may: then what follows may be infinite or NaN
 * (0 · ∞), also if the exact result is finite.
 */
export function mayOverflow({ ratio, state, weight, kl }: TokenChain): boolean {
  const reach = [ratio.high, state.ratio + state.ratioError, weight.high, kl.value.high];
  return !reach.every(Number.isFinite);
}

/** What is the same for all tokens: which parts there are, and what they are multiplied with in a row. */
interface Joining {
  readonly chain: TokenChain;
  readonly unit: number;
  readonly hasKl: boolean;
  readonly isWeighted: boolean;
  readonly isKlWeighted: boolean;
  /** Scale and denominator of the row. −0 at first, as in emptyInterval. */
  policyFactor: number;
  klFactor: number;
}

function joiningOf(
  { chain, batch, arithmetic }: Pick<StepModel, 'chain' | 'batch' | 'arithmetic'>,
  { loss, kl, correction }: Parts,
): Joining {
  const hasWeight = correction !== undefined || batch.tokens.rolloutWeight !== undefined;
  return {
    chain,
    unit: arithmetic.unit,
    hasKl: kl !== undefined,
    isWeighted: hasWeight && loss?.usesWeight !== true,
    isKlWeighted: hasWeight && batch.step.rolloutCorrection?.appliesTo === 'all',
    policyFactor: -0,
    klFactor: -0,
  };
}

/** Joins the parts: policy loss times weight and KL, each divided by its own denominator and scaled. */
function fillGradient(joining: Joining): void {
  const { chain, unit } = joining;
  const { policyPart, klPart, gradient, weight } = chain;
  scaled(policyPart, chain.loss.gradient, joining.policyFactor);
  if (joining.isWeighted) times(policyPart, weight);
  if (joining.hasKl) scaled(klPart, chain.kl.gradient, joining.klFactor);
  if (joining.isKlWeighted) times(klPart, weight);
  const size = Math.abs(policyPart.value) + Math.abs(klPart.value);
  const blur = GRADIENT_ROUNDINGS * unit * size;
  gradient.value = policyPart.value + klPart.value;
  gradient.low = policyPart.low + klPart.low - blur;
  gradient.high = policyPart.high + klPart.high + blur;
}

function scaled(to: Interval, from: Interval, factor: number): void {
  to.value = from.value * factor;
  to.low = factor < 0 ? from.high * factor : from.low * factor;
  to.high = factor < 0 ? from.low * factor : from.high * factor;
}

/** Multiplies a term by a weight of at least 0. */
function times(term: Interval, weight: Interval): void {
  const { low, high } = term;
  term.value *= weight.value;
  term.low = low * (low < 0 ? weight.high : weight.low);
  term.high = high * (high < 0 ? weight.low : weight.high);
  // A weight that may be 0 or not is no interval around its value.
  if (weight.low === 0) include(term, 0);
}
