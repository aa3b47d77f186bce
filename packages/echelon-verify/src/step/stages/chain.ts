/** The chain of one token: from its log-probs to its gradient coefficient, stage by stage, each with the trainer's possible error. */

import type { Interval } from '../../arithmetic/interval.ts';
import { emptyInterval, errorOf, exactly } from '../../arithmetic/interval.ts';
import type { StepBatch } from '../../format/step-batch.ts';
import type { StepPrecision } from '../../format/step-settings.ts';
import { type StepArithmetic, stepArithmetic } from '../losses/arithmetic.ts';
import {
  emptyLoss,
  type LossParameters,
  type PolicyLoss,
  type RowState,
  type RowTokens,
  type TokenState,
} from '../losses/loss.ts';
import { completeLoss, lossOf } from '../losses/registry.ts';
import { flagsOf, type Layout, layoutOf } from '../model/layout.ts';
import { hasWeight, lacking, type StepModel, type TokenChain } from '../model/model.ts';
import { type OffPolicyModel, offPolicyModel } from '../model/off-policy.ts';
import { divisorsOf, lackingAggregation, neutralScale } from './denominator.ts';
import { fillGradient, type Joining, notPerToken } from './gradient.ts';
import { emptyKl, hasKlTerm, type KlModel, klModel, lackingKl } from './kl.ts';
import { lackingLoss } from './loss.ts';
import { fillRatio } from './ratio.ts';
import { type CorrectionModel, correctionModel, lackingWeight } from './weight.ts';

/** The model of a step in a precision. `layout`: that of the batch, if it is known. */
export function stepModel(
  batch: StepBatch,
  precision: StepPrecision,
  layout: Layout = layoutOf(batch),
): StepModel {
  const arithmetic = stepArithmetic(precision);
  const lacks = lacksOf(batch, layout);
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
    isWeighted: hasWeight(batch) && parts.loss?.usesWeight !== true,
    divisorOf: (row: number) => divisors?.[row] ?? Number.NaN,
    klDivisorOf: (row: number) => klDivisors?.[row] ?? Number.NaN,
    scaleOf: (microBatch: number) => scales[microBatch]!,
    klScaleOf: (microBatch: number) => klScales[microBatch]!,
    advantageOf: (row: number, token: number) =>
      batch.tokens.reportedAdvantage?.[token] ?? batch.reportedAdvantage?.[row] ?? Number.NaN,
  };
  return { ...model, ...evaluation(model, parts) };
}

/** What each stage lacks, the reported column itself apart. */
function lacksOf(batch: StepBatch, layout: Layout): StepModel['lacks'] {
  const own = {
    loss: lackingLoss(batch),
    weight: lackingWeight(batch),
    kl: lackingKl(batch),
    aggregation: lackingAggregation(batch, layout),
  };
  const gradient = [...new Set([...Object.values(own).flat(), ...notPerToken(batch)])];
  return { ...own, ratio: lacking(batch, ['logProb']), gradient };
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
  const model = kl && hasKlTerm(batch) && lacks.kl.length === 0 ? klModel(kl) : undefined;
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
  const fillLoss = canLoss
    ? loss!.bind(params, { out: chain.loss, arithmetic, tokens: batch.tokens })
    : undefined;
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
    fillLoss!(state, token);
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

function joiningOf(
  { chain, batch, arithmetic, isWeighted }: Omit<StepModel, 'startRow' | 'evaluate'>,
  { kl }: Parts,
): Joining {
  return {
    chain,
    unit: arithmetic.unit,
    hasKl: kl !== undefined,
    isWeighted,
    isKlWeighted: batch.step.rolloutCorrection?.appliesTo === 'all',
    policyFactor: -0,
    klFactor: -0,
  };
}
