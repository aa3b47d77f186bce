/**
 * Findings about a step: identities that hold in expectation, with a standard error and a number of tokens, and contradictions
 * between what is stated and what the columns hold. None of them is an outcome of a token.
 */

import { significant } from 'command-kit/number';
import { counted, nounOf } from 'command-kit/plural';
import type { StepBatch } from '../../format/step-batch.ts';
import type { Finding } from '../../report/report.ts';
import { stepFinding } from '../../report/step-findings.ts';
import { engineFindings } from '../engines/findings.ts';
import type { EngineStatistics } from '../engines/sums.ts';
import { aggregationOf } from '../model/aggregations.ts';
import type { StepModel } from '../model/model.ts';
import { isBfloat16 } from '../model/precision.ts';
import { neutralScale } from './denominator.ts';

/** Tokens below which no share is meaningful. */
const MIN_TOKENS = 64;

/** All findings of a step. `gradientIsWrong`: a gradient coefficient is, so that its cause is searched for. */
export function stepFindings(
  model: StepModel,
  { engines, gradientIsWrong }: { engines: EngineStatistics | undefined; gradientIsWrong: boolean },
): Finding[] {
  const { batch, arithmetic } = model;
  const all = [
    ...(engines === undefined ? [] : engineFindings(engines, arithmetic.name)),
    ratioOverflow(model),
    ratioAlwaysOne(model),
    looksBfloat16(batch),
    gradientScaled(model),
    gradientIsWrong ? klWithoutGradient(model) : undefined,
    versionsConstant(batch),
    ranksNotJoined(batch),
    lastTokenUntrained(batch),
  ];
  return all.filter((found) => found !== undefined);
}

/** ln 2^128: exp of more is infinite in float32 and in bfloat16. */
const MAX_EXPONENT = 128 * Math.LN2;

function ratioOverflow({ batch, kept, loss, params }: StepModel): Finding | undefined {
  const { logProb, oldLogProb, offset } = batch.tokens;
  const clamp = params.logRatioClamp ?? Number.NaN;
  if (logProb === undefined || oldLogProb === undefined || loss?.ignoresOld || clamp <= MAX_EXPONENT)
    return undefined;
  const rows: number[] = [];
  let first = '';
  let tokens = 0;
  for (let row = 0; row < batch.rows; row++) {
    for (let t = offset[row]!; t < offset[row + 1]!; t++) {
      if (kept?.[t] === 0 || !(logProb[t]! - oldLogProb[t]! > MAX_EXPONENT)) continue;
      first ||= `row ${row}, token ${t - offset[row]!}: log-prob ${show(logProb[t]!)}, old ${show(oldLogProb[t]!)}`;
      if (rows.at(-1) !== row) rows.push(row);
      tokens++;
    }
  }
  return tokens === 0
    ? undefined
    : stepFinding('ratio-overflow', `${counted(tokens, 'token')} (${first}).`, rows);
}

const show = (value: number): string => significant(value, 4);

/** In a later pass, or a later mini-batch of the same rollouts, an unchanged ratio of every token means that nothing was learnt or stored. */
function ratioAlwaysOne({ batch: { step, tokens }, kept }: StepModel): Finding | undefined {
  const { logProb, oldLogProb } = tokens;
  if (logProb === undefined || oldLogProb === undefined) return undefined;
  if (!step.microBatches.some(({ pass }) => pass > 0)) return undefined;
  if (logProb.some((value, at) => kept?.[at] !== 0 && value !== oldLogProb[at])) return undefined;
  const count = kept?.reduce((sum, flag) => sum + flag, 0) ?? logProb.length;
  if (count < MIN_TOKENS) return undefined;
  return stepFinding(
    'ratio-always-one',
    `Old and current log-probs are equal for all ${count} trained tokens, although this is not the first pass.`,
  );
}

function looksBfloat16({ step, tokens }: StepBatch): Finding | undefined {
  if (step.precision === 'bfloat16') return undefined;
  const columns = ['logProb', 'oldLogProb', 'rolloutLogProb', 'referenceLogProb'] as const;
  const found = columns.filter((key) => {
    const column = tokens[key];
    return column !== undefined && isBfloat16(column);
  });
  if (found.length === 0) return undefined;
  return stepFinding('looks-bfloat16', `Every value of ${found.join(', ')} is a bfloat16 number.`);
}

/**
 * One constant factor beside the neutral one is legitimate, so this is no error. If no scale is neutral, one that differs from that
 * of the first micro-batch still weighs its rows differently.
 */
function gradientScaled({ batch, layout, lacks }: StepModel): Finding | undefined {
  if (lacks.aggregation.length > 0) return undefined;
  const { microBatches, aggregation } = batch.step;
  const first = microBatches[0]?.gradientScale ?? 1;
  const isFree = aggregationOf(aggregation!.mode)?.isFree === true;
  const neutral = (index: number) => (isFree ? first : neutralScale(batch, layout, index));
  const at = microBatches.findIndex(
    ({ gradientScale }, index) => gradientScale !== undefined && gradientScale !== neutral(index),
  );
  if (at < 0) return undefined;
  const factor = microBatches[at]!.gradientScale! / neutral(at);
  return stepFinding(
    'gradient-scaled',
    `Micro-batch ${at} states the gradient scale ${microBatches[at]!.gradientScale}, which makes the update ${significant(factor, 7)} times the stated aggregation.`,
  );
}

/**
 * The value of a KL term says nothing about its gradient. Without it, the gradient coefficient is the policy part; the KL part is
 * seen if its size is above the errors.
 */
function klWithoutGradient(model: StepModel): Finding | undefined {
  const { batch, lacks, kept, chain } = model;
  const { kl } = batch.step;
  const { lossGradient, offset } = batch.tokens;
  if (kl === undefined || kl.placement === 'reward' || kl.coefficient === 0) return undefined;
  if (lossGradient === undefined || lacks.gradient.length > 0) return undefined;
  let seen = 0;
  let without = 0;
  for (let row = 0; row < batch.rows; row++) {
    model.startRow(row);
    for (let token = offset[row]!; token < offset[row + 1]!; token++) {
      if (kept?.[token] === 0) continue;
      model.evaluate(row, token);
      const { policyPart, gradient, klPart } = chain;
      const value = lossGradient[token]!;
      const blur = gradient.high - gradient.value;
      if (Math.abs(klPart.value) <= 4 * blur) continue;
      seen++;
      if (value >= policyPart.low - blur && value <= policyPart.high + blur) without++;
    }
  }
  if (seen < MIN_TOKENS || without < seen) return undefined;
  return stepFinding(
    'kl-without-gradient',
    `The gradient coefficients of all ${seen} tokens whose KL part would show are the policy loss alone.`,
  );
}

function ranksNotJoined({ notJoined, step }: StepBatch): Finding | undefined {
  if (notJoined === undefined) return undefined;
  const { reason, ranks } = notJoined;
  const which = `${nounOf(ranks.length, 'Rank', 'Ranks')} ${ranks.slice(0, 3).join(', ')}${ranks.length > 3 ? ', …' : ''}`;
  return reason === 'repeated'
    ? stepFinding(
        'rank-repeated',
        `${which} of update ${step.optimizerStep} ${nounOf(ranks.length, 'is', 'are')} there twice.`,
      )
    : stepFinding(
        'ranks-disagree',
        `${which} ${nounOf(ranks.length, 'states', 'state')} other settings than the first one.`,
      );
}

/** Rows with several sampled tokens, below which an untrained last token may be chance. */
const MIN_ROWS = 4;

function lastTokenUntrained({ tokens, rows }: StepBatch): Finding | undefined {
  const { sampled, mask, offset } = tokens;
  if (sampled === undefined || mask === undefined) return undefined;
  const found: number[] = [];
  for (let row = 0; row < rows; row++) {
    const last = sampled.subarray(0, offset[row + 1]!).lastIndexOf(1);
    if (last <= offset[row]! || mask.subarray(offset[row]!, last).indexOf(1) < 0) continue;
    if (mask[last] === 1) return undefined;
    found.push(row);
  }
  return found.length < MIN_ROWS
    ? undefined
    : stepFinding('last-token-untrained', `${counted(found.length, 'row')}.`, found);
}

function versionsConstant({ step, tokens, policyVersionStart }: StepBatch): Finding | undefined {
  const column = tokens.policyVersion ?? policyVersionStart;
  if (column === undefined || column.length === 0 || (step.optimizerStep ?? 0) < 2) return undefined;
  if (column.some((version) => version !== 0)) return undefined;
  return stepFinding('versions-constant', `All versions are 0 at update ${step.optimizerStep}.`);
}
