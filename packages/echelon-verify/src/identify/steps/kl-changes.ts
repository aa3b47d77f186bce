import type { StepBatch } from '../../format/step-batch.ts';
import type { KlSettings } from '../../format/step-settings.ts';
import { KL_ESTIMATORS, klEstimatorOf } from '../../step/stages/kl.ts';
import { type Change, withoutSetting, withSettings } from './change.ts';

/** A KL term without a gradient, of another estimator, or with other factors. */
export function klChanges(batch: StepBatch): Change[] {
  const { kl } = batch.step;
  if (kl === undefined || kl.placement === 'reward') return [];
  const change = (text: string, settings: KlSettings): Change => ({
    dimension: 'kl',
    text,
    apply: (from) => withSettings(from, { kl: settings }),
  });
  const none: Change = {
    dimension: 'kl',
    text: 'the KL term has no gradient',
    apply: (from) => withoutSetting(from, 'kl'),
  };
  return [
    none,
    ...estimators(kl).map(({ text, settings }) => change(text, settings)),
    ...factors(kl).map(({ text, settings }) => change(text, settings)),
  ];
}

interface Guess {
  readonly text: string;
  readonly settings: KlSettings;
}

function estimators(kl: KlSettings): Guess[] {
  const { gradientOf, inputClamp: _in, outputClamp: _out, ...plain } = kl;
  const stated = klEstimatorOf(gradientOf ?? kl.estimator)?.name;
  const others = KL_ESTIMATORS.filter(({ name }) => name !== stated).map(({ name }) => ({
    text: `the gradient of the KL term is that of ${name}; you said ${stated}`,
    settings: { ...plain, estimator: name },
  }));
  const reversed = {
    text: 'the log-probs of policy and reference change places in the KL term',
    settings: { ...plain, estimator: `${klEstimatorOf(kl.estimator)?.name}-reversed` },
  };
  const unclamped = { text: 'the KL term has no clamps', settings: plain };
  const isClamped = kl.inputClamp !== undefined || kl.outputClamp !== undefined;
  return [
    ...others,
    ...(klEstimatorOf(reversed.settings.estimator) === undefined ? [] : [reversed]),
    ...(isClamped ? [unclamped] : []),
  ];
}

function factors(kl: KlSettings): Guess[] {
  const weights = {
    none: 'no ratio',
    ratio: 'the importance ratio',
    probability: 'the sampling probability',
  };
  const names = Object.keys(weights) as (keyof typeof weights)[];
  const ofWeight = names
    .filter((weight) => weight !== kl.weight)
    .map((weight) => ({
      text: `the KL term has ${weights[weight]} as a factor; you said ${weights[kl.weight]}`,
      settings: { ...kl, weight },
    }));
  const own = { mode: 'seq-mean-token-mean', counts: 'mask', rowCount: 'all' } as const;
  const ofDenominator = (['micro-batch', 'global'] as const).map((scope) => ({
    text: `the KL term is a mean of row means ${scope === 'global' ? 'over all rows' : 'of its micro-batch'}, with its own denominator`,
    settings: { ...kl, aggregation: { ...own, scope } },
  }));
  return [
    ...ofWeight,
    ...ofDenominator,
    { text: 'the KL term has the opposite sign', settings: { ...kl, coefficient: -kl.coefficient } },
  ];
}
