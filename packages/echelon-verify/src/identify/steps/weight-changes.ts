import type { StepBatch } from '../../format/step-batch.ts';
import type { CorrectionSettings } from '../../format/step-settings.ts';
import { type Change, withoutColumn, withoutSetting, withSettings } from './change.ts';

/** Without the weight, with another one, and with the KL term weighted as well. */
export function weightChanges(batch: StepBatch): Change[] {
  const stated = batch.step.rolloutCorrection;
  const canCompute = batch.tokens.rolloutLogProb !== undefined;
  if (stated === undefined) return canCompute ? [added()] : [];
  const change = (text: string, settings: CorrectionSettings, isNew = true): Change => ({
    dimension: 'weight',
    text,
    apply: (from) =>
      withSettings(isNew ? withoutColumn(from, 'rolloutWeight') : from, { rolloutCorrection: settings }),
  });
  const other = stated.appliesTo === 'all' ? 'policy' : 'all';
  const always = [
    without(),
    change(
      other === 'all'
        ? 'the rollout weight multiplies the KL term as well'
        : 'the rollout weight does not multiply the KL term',
      { ...stated, appliesTo: other },
      false,
    ),
  ];
  if (!canCompute) return always;
  const { low: _low, high: _high, ...uncapped } = stated;
  return [
    ...always,
    change('the rollout weight is computed as stated, not as reported', stated),
    ...OTHER_RATIOS,
    change('the rollout weight has no limits', { ...uncapped, action: 'truncate' }),
    change(
      `the rollout weight is ${stated.action === 'mask' ? 'truncated at' : 'set to 0 beyond'} the limits`,
      {
        ...stated,
        action: stated.action === 'mask' ? 'truncate' : 'mask',
      },
    ),
    ...levels(stated).map(({ text, settings }) => change(text, settings)),
  ];
}

/** A weight of other log-probs, as the rollout log-probs from which the old ones give it. */
const otherRatio = (
  text: string,
  rolloutOf: (at: { now: number; old: number; rollout: number }) => number,
): Change => ({
  dimension: 'weight',
  text,
  apply(from) {
    const { logProb, oldLogProb, rolloutLogProb } = from.tokens;
    if (logProb === undefined || oldLogProb === undefined || rolloutLogProb === undefined) return from;
    const other = oldLogProb.map((old, at) =>
      rolloutOf({ now: logProb[at]!, old, rollout: rolloutLogProb[at]! }),
    );
    const { tokens } = withoutColumn(from, 'rolloutWeight');
    return { ...from, tokens: { ...tokens, rolloutLogProb: other } };
  },
});

const OTHER_RATIOS = [
  otherRatio(
    'the rollout weight is inverted: the ratio of the rollout engine to the old policy',
    ({ old, rollout }) => 2 * old - rollout,
  ),
  otherRatio(
    'the rollout weight is the ratio of the current policy to the rollout engine, not of the old one',
    ({ now, old, rollout }) => old - now + rollout,
  ),
];

function without(): Change {
  return {
    dimension: 'weight',
    text: 'the rollout weight is missing',
    apply: (from) => withoutColumn(withoutSetting(from, 'rolloutCorrection'), 'rolloutWeight'),
  };
}

function levels(stated: CorrectionSettings): { text: string; settings: CorrectionSettings }[] {
  const all = [
    { level: 'token', statistic: 'ratio', text: 'each token has its own rollout weight' },
    {
      level: 'sequence',
      statistic: 'sum',
      text: 'a row has one rollout weight, from the sum of its log-ratios',
    },
    {
      level: 'sequence',
      statistic: 'mean',
      text: 'a row has one rollout weight, from the mean of its log-ratios',
    },
  ] as const;
  return all
    .filter(({ level, statistic }) => level !== stated.level || statistic !== stated.statistic)
    .map(({ text, level, statistic }) => ({ text, settings: { ...stated, level, statistic } }));
}

/** A weight that the step does not state. One with a cap is solved for. */
function added(): Change {
  return {
    dimension: 'weight',
    text: 'a rollout weight without a limit multiplies the loss; you stated none',
    apply: (from) =>
      withSettings(from, {
        rolloutCorrection: {
          level: 'token',
          statistic: 'ratio',
          action: 'truncate',
          appliesTo: 'policy',
          keptWeight: 'statistic',
        },
      }),
  };
}
