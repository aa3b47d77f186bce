/** The gradient coefficient of a token: policy loss times weight and KL term, each divided by its own denominator and scaled. */

import { significant } from 'command-kit/number';
import type { Interval } from '../../arithmetic/interval.ts';
import { include } from '../../arithmetic/interval.ts';
import type { StepBatch } from '../../format/step-batch.ts';
import { statedLoss, type TokenChain } from '../model/model.ts';
import { hasKlTerm } from './kl.ts';
import { comparison, type TokenStage } from './stage.ts';

/**
 * Roundings of the gradient beside those of loss, weight and KL: the product with the weight, the row's count, the rows, a scale
 * factor, ranks and accumulation (each a division or a product), the mask, and up to three additions where autograd joins the
 * paths into one log-prob.
 */
const GRADIENT_ROUNDINGS = 12;

/** What is the same for all tokens: which parts there are, and what they are multiplied with in a row. */
export interface Joining {
  readonly chain: TokenChain;
  readonly unit: number;
  readonly hasKl: boolean;
  readonly isWeighted: boolean;
  readonly isKlWeighted: boolean;
  /** Scale and denominator of the row. −0 at first, as in emptyInterval. */
  policyFactor: number;
  klFactor: number;
}

/** Joins the parts. */
export function fillGradient(joining: Joining): void {
  const { chain, unit } = joining;
  const { policyPart, klPart, gradient, weight } = chain;
  scaled(policyPart, chain.loss.gradient, joining.policyFactor);
  if (joining.isWeighted) times(policyPart, weight);
  if (joining.hasKl) scaled(klPart, chain.kl.gradient, joining.klFactor);
  if (joining.isKlWeighted) times(klPart, weight);
  const blur = GRADIENT_ROUNDINGS * unit * partsSize(chain);
  gradient.value = policyPart.value + klPart.value;
  gradient.low = policyPart.low + klPart.low - blur;
  gradient.high = policyPart.high + klPart.high + blur;
}

const partsSize = ({ policyPart, klPart }: TokenChain): number =>
  Math.abs(policyPart.value) + Math.abs(klPart.value);

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

/** Every step has it: without the column its tokens are unverifiable. */
export const GRADIENT: TokenStage = {
  title: 'gradient',
  needs: ['tokens.lossGradient'],
  compare: ({ batch, lacks }) =>
    comparison({
      reported: batch.tokens.lossGradient,
      lacks: lacks.gradient,
      mayLeave: true,
      term: ({ gradient }) => gradient,
      size: partsSize,
    }),
  note: ({ batch, chain: { policyPart, klPart } }) =>
    hasKlTerm(batch) ? `policy ${show(policyPart.value)}, KL ${show(klPart.value)}` : '',
};

const show = (value: number): string => significant(value, 8);

/**
 * What no coefficient per token has. A loss with one ratio per row gives the same gradient in its stop-gradient form and in the plain one
 * only while the row has one weight; the plain form of a KL term that is multiplied by that ratio is a sum over the row.
 */
export function notPerToken(batch: StepBatch): string[] {
  const { rolloutCorrection, kl } = batch.step;
  const loss = statedLoss(batch);
  if (loss?.row === undefined) return [];
  const lacks: string[] = [];
  const isOne = rolloutCorrection?.level === 'sequence' && rolloutCorrection.keptWeight === 'statistic';
  if (rolloutCorrection !== undefined && !isOne && loss.usesWeight !== true)
    lacks.push('a form of the gradient (one ratio per row with weights per token)');
  if (kl?.weight === 'ratio' && loss.hasRowRatio === true)
    lacks.push('a form of the gradient (the KL term times the ratio of the row)');
  return lacks;
}
