/** Estimators of the KL divergence from the reference policy, their clamps, and their gradients. */

import { around, emptyInterval, errorOf, exactly, include } from '../../arithmetic/interval.ts';
import type { StepBatch } from '../../format/step-batch.ts';
import type { KlSettings } from '../../format/step-settings.ts';
import type { StepArithmetic } from '../losses/arithmetic.ts';
import type { TokenState } from '../losses/loss.ts';
import { type KlTerms, lacking } from '../model/model.ts';
import { comparison, type TokenStage } from './stage.ts';

/** One estimator on x = logProb − referenceLogProb. Errors are in units of roundoff. */
export interface KlEstimator {
  readonly name: string;
  readonly formula: string;
  value(x: number): number;
  valueRoundings(x: number): number;
  /** Derivative by logProb. */
  slope(x: number): number;
  slopeRoundings(x: number): number;
}

/**
 * x rounds once (u|x|). k3 cancels: exp(−x) has the error (2|x| + 6)u exp(−x) at most, each of its two subtractions rounds by
 * u of its result, and x's own rounding moves the value by u|x|·|1 − exp(−x)|; the slope subtracts once more. No relative bound
 * holds near x = 0.
 */
export const KL_ESTIMATORS: readonly KlEstimator[] = [
  {
    name: 'k1',
    formula: 'x',
    value: (x) => x,
    valueRoundings: Math.abs,
    slope: () => 1,
    slopeRoundings: () => 0,
  },
  {
    name: 'abs',
    formula: '|x|',
    value: Math.abs,
    valueRoundings: Math.abs,
    slope: Math.sign,
    slopeRoundings: () => 0,
  },
  {
    name: 'k2',
    formula: 'x^2 / 2',
    value: (x) => (x * x) / 2,
    valueRoundings: (x) => 2 * x * x,
    slope: (x) => x,
    slopeRoundings: (x) => 3 * Math.abs(x),
  },
  {
    name: 'k3',
    formula: 'exp(-x) - 1 + x',
    value: (x) => Math.expm1(-x) + x,
    valueRoundings: (x) => (2 * Math.abs(x) + 8) * Math.exp(-x) + 4 * Math.abs(x) + 2,
    slope: (x) => -Math.expm1(-x),
    slopeRoundings: (x) => (2 * Math.abs(x) + 8) * Math.exp(-x) + 2,
  },
];

/** k3 with its two log-probs exchanged, which no trainer states: a fault that is looked for. k1 has the opposite sign then, k2 is the same. */
const K3_REVERSED: KlEstimator = {
  name: 'k3-reversed',
  formula: 'exp(x) - 1 - x',
  value: (x) => Math.expm1(x) - x,
  valueRoundings: (x) => (2 * Math.abs(x) + 8) * Math.exp(x) + 4 * Math.abs(x) + 2,
  slope: (x) => Math.expm1(x),
  slopeRoundings: (x) => (2 * Math.abs(x) + 8) * Math.exp(x) + 2,
};

/** Other names of the estimators. */
const ALIASES: Readonly<Record<string, string>> = { kl: 'k1', mse: 'k2', low_var_kl: 'k3' };

/** The estimator with a name, or one of its other names; undefined if there is none. */
export function klEstimatorOf(name: string): KlEstimator | undefined {
  return [...KL_ESTIMATORS, K3_REVERSED].find((one) => one.name === (ALIASES[name] ?? name));
}

/** Terms to reuse. */
export const emptyKl = (): KlTerms => ({ value: emptyInterval(), gradient: emptyInterval() });

/** A ratio with its error, and whether it changes with the log-prob. */
type Ratio = Pick<TokenState, 'ratio' | 'ratioError' | 'moves'>;

/** A KL term that can be computed. */
export interface KlModel {
  readonly settings: KlSettings;
  fill(x: number, ratio: Ratio, to: { out: KlTerms; arithmetic: StepArithmetic }): void;
}

/** The model of the stated KL term; or the name that is not known. */
export function klModel(settings: KlSettings): KlModel | { unknown: string } {
  const estimator = klEstimatorOf(settings.estimator);
  const straight = klEstimatorOf(settings.gradientOf ?? settings.estimator);
  if (estimator === undefined) return { unknown: settings.estimator };
  if (straight === undefined) return { unknown: settings.gradientOf! };
  const { inputClamp = Number.POSITIVE_INFINITY, outputClamp = Number.POSITIVE_INFINITY } = settings;
  const clamps = { inputClamp, outputClamp };
  return {
    settings,
    fill(x, ratio, { out, arithmetic }) {
      fillPlain(x, { estimator, clamps }, { out, arithmetic });
      // The straight-through form takes the value of one and the gradient of another, which has no clamp.
      if (straight !== estimator)
        around(out.gradient, straight.slope(x), straight.slopeRoundings(x) * arithmetic.unit);
      if (settings.weight === 'ratio') timesRatio(out, ratio, arithmetic);
      else if (settings.weight === 'probability') plusValue(out, arithmetic);
    },
  };
}

interface Plain {
  readonly estimator: KlEstimator;
  readonly clamps: { readonly inputClamp: number; readonly outputClamp: number };
}

/** A clamp stops the gradient beyond its limit; within x's rounding of the limit, either is admitted. */
function fillPlain(
  x: number,
  { estimator, clamps: { inputClamp, outputClamp } }: Plain,
  { out, arithmetic: { unit } }: { out: KlTerms; arithmetic: StepArithmetic },
): void {
  const held = Math.max(-inputClamp, Math.min(inputClamp, x));
  const value = estimator.value(held);
  const error = estimator.valueRoundings(held) * unit;
  const limited = Math.max(-outputClamp, Math.min(outputClamp, value));
  around(out.value, limited, error);
  const inputBand = 2 * unit * Math.abs(x);
  const isOut = Math.abs(x) - inputBand > inputClamp || Math.abs(value) - error > outputClamp;
  const isIn = Math.abs(x) + inputBand < inputClamp && Math.abs(value) + error < outputClamp;
  if (isOut) {
    exactly(out.gradient, 0);
    return;
  }
  around(out.gradient, estimator.slope(held), estimator.slopeRoundings(held) * unit);
  // The derivative of |x| at 0 is 0 in every library; elsewhere x's sign is exact.
  if (!isIn) include(out.gradient, 0);
}

/** value·r, whose gradient is r·slope + value·r. */
function timesRatio({ value, gradient }: KlTerms, r: Ratio, { unit }: StepArithmetic): void {
  const { ratio, ratioError, moves } = r;
  const [v, vError] = [value.value, value.high - value.value];
  const [g, gError] = [gradient.value, errorOf(gradient)];
  const part = moves === 0 ? 0 : v;
  const sum = (g + part) * ratio;
  const size = (Math.abs(g) + Math.abs(part)) * ratio;
  around(
    gradient,
    sum,
    (gError + vError) * (ratio + ratioError) + (Math.abs(g) + Math.abs(part)) * ratioError + 4 * unit * size,
  );
  if (moves < 0) include(gradient, g * ratio);
  around(
    value,
    v * ratio,
    vError * (ratio + ratioError) + Math.abs(v) * ratioError + unit * Math.abs(v * ratio),
  );
}

/** value·exp(logProb − stop(logProb)): the value is the same, the gradient gains the value. */
function plusValue({ value, gradient }: KlTerms, { unit }: StepArithmetic): void {
  const error =
    errorOf(gradient) + errorOf(value) + 4 * unit * (Math.abs(gradient.value) + Math.abs(value.value));
  around(gradient, gradient.value + value.value, error);
}

/** True if a KL term is added to the loss of a token, whatever its coefficient is. */
export const hasKlTerm = ({ step }: StepBatch): boolean => step.kl?.placement === 'loss';

/** What the KL term of the loss lacks; nothing if the loss has none. */
export function lackingKl(batch: StepBatch): string[] {
  const { kl } = batch.step;
  if (kl === undefined || !isUsed(batch)) return [];
  const model = klModel(kl);
  const unknown = 'unknown' in model ? [`a known estimator (step.kl says ${model.unknown})`] : [];
  return [...lacking(batch, ['logProb', 'referenceLogProb']), ...unknown];
}

const isUsed = (batch: StepBatch): boolean => hasKlTerm(batch) && batch.step.kl!.coefficient !== 0;

/** The trainer reports the value without its coefficient. Its roundings near 0 all have one sign, so that no sum of them says more. */
export const KL: TokenStage = {
  title: 'KL value',
  isFactor: true,
  needs: [],
  isUsed,
  compare({ batch, lacks }) {
    const { reportedKl } = batch.tokens;
    if (reportedKl === undefined && !hasKlTerm(batch)) return undefined;
    return comparison({
      reported: reportedKl,
      lacks: batch.step.kl === undefined ? ['step.kl'] : lacks.kl,
      mayLeave: true,
      isShared: false,
      term: ({ kl }) => kl.value,
      size: ({ kl }) => Math.abs(kl.value.value),
    });
  },
};
