/** Every loss, KL form and rollout weight against an independent float64 evaluation: values, derivatives, and their intervals. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Interval } from '../../src/arithmetic/interval.ts';
import type { StepBatch } from '../../src/format/step-batch.ts';
import type { CorrectionSettings, KlSettings, StepSettings } from '../../src/format/step-settings.ts';
import { LOSSES } from '../../src/step/losses/registry.ts';
import { stepModel } from '../../src/step/stages/chain.ts';
import { KL_ESTIMATORS } from '../../src/step/stages/kl.ts';
import {
  type At,
  klReference,
  LOSS_REFERENCE,
  OF_ROW,
  slope,
  WITH_WEIGHT,
  weightReference,
} from './reference.ts';
import { random } from './simulate-step.ts';

const ROWS = 40;
const LENGTH = 5;
const TIS: CorrectionSettings = {
  level: 'token',
  statistic: 'ratio',
  action: 'truncate',
  high: 1.2,
  appliesTo: 'policy',
  keptWeight: 'statistic',
};

/** Rows of five tokens whose log-probs are some tenths apart: on both sides of every edge. */
function batchOf(step: Partial<StepSettings>): StepBatch {
  const next = random(11);
  const count = ROWS * LENGTH;
  const column = (of: (at: number) => number): Float32Array =>
    Float32Array.from({ length: count }, (_, at) => of(at));
  const logProb = column(() => -0.2 - 2 * next());
  const near = (width: number) => column((at) => Math.min(-0.01, logProb[at]! + width * (next() - 0.5)));
  return {
    name: 'reference',
    rows: ROWS,
    reportedAdvantage: Float32Array.from({ length: ROWS }, () => 4 * (next() - 0.5)),
    tokens: {
      offset: Int32Array.from({ length: ROWS + 1 }, (_, row) => row * LENGTH),
      logProb,
      oldLogProb: near(1),
      rolloutLogProb: near(1),
      referenceLogProb: near(2),
    },
    step: {
      aggregation: { mode: 'token-sum', scope: 'global', counts: 'mask', rowCount: 'all' },
      microBatches: [{ rank: 0, index: 0, pass: 0 }],
      reported: {},
      ...step,
    },
  };
}

/** Relative distance of the product's float64 numbers; the differences of the reference are good to about 1e-9. */
const NEAR = 1e-7;

function isIn({ value, low, high }: Interval, expected: number, what: string): void {
  const blur = NEAR * Math.max(1e-3, Math.abs(expected));
  assert.ok(Math.abs(value - expected) <= blur, `${what}: ${value}, expected ${expected}`);
  assert.ok(
    low <= expected + blur && expected - blur <= high,
    `${what}: ${low} to ${high}, expected ${expected}`,
  );
}

/** Compares all tokens of a step but those at an edge, where either side is right; returns how many were compared. */
function compare(batch: StepBatch, name: string, params: Readonly<Record<string, number>>): number {
  const model = stepModel(batch, 'float32');
  assert.deepEqual(model.lacks.gradient, []);
  const { tokens, step } = batch;
  const [logProb, old, rollout, reference] = [
    tokens.logProb!,
    tokens.oldLogProb!,
    tokens.rolloutLogProb!,
    tokens.referenceLogProb!,
  ];
  const { rolloutCorrection: correction, kl } = step;
  const times = OF_ROW.includes(name) ? LENGTH : 1;
  let compared = 0;
  for (let row = 0; row < ROWS; row++) {
    model.startRow(row);
    const places = Array.from({ length: LENGTH }, (_, at) => row * LENGTH + at);
    const logs = places.map((t) => old[t]! - rollout[t]!);
    const weights = correction === undefined ? logs.map(() => 1) : weightReference(logs, correction);
    const advantage = batch.reportedAdvantage![row]!;
    for (const [place, t] of places.entries()) {
      const { loss, weight, kl: klTerm, gradient } = model.evaluate(row, t);
      const at: At = {
        ...{ sg: logProb[t]!, old: old[t]!, advantage, place },
        isOneWeight: correction?.level === 'sequence',
        row: places.map((o, i) => ({ d: logProb[o]! - old[o]!, advantage, weight: weights[i]! })),
      };
      if (loss.side < 0) continue;
      compared++;
      const what = `${name}, row ${row}, token ${place}`;
      const lossOf = (l: number): number => LOSS_REFERENCE[name]!(l, at, params);
      isIn(loss.loss, lossOf(at.sg), `the loss of ${what}`);
      if (correction !== undefined) isIn(weight, weights[place]!, `the weight of ${what}`);
      const own = WITH_WEIGHT.includes(name) ? 1 : weights[place]!;
      const klOf = (l: number): number => klReference(l, { ...at, reference: reference[t]! }, kl!);
      if (kl !== undefined) isIn(klTerm.value, klOf(at.sg), `the KL value of ${what}`);
      const ofKl = kl === undefined ? 0 : kl.coefficient * slope(klOf, at.sg);
      const ofWeight = correction?.appliesTo === 'all' ? weights[place]! : 1;
      isIn(gradient, times * own * slope(lossOf, at.sg) + ofKl * ofWeight, `the gradient of ${what}`);
    }
  }
  return compared;
}

const DEFAULTS = (name: string): Record<string, number> => {
  const { parameters } = LOSSES.find((loss) => loss.name === name)!;
  const stated = Object.entries(parameters).flatMap(([key, { fallback }]) =>
    fallback === null ? [] : [[key, fallback] as const],
  );
  return Object.fromEntries(stated);
};

const MORE: readonly [string, Record<string, number>][] = [
  ['ppo-clip', { clipLow: 0.1, clipHigh: 0.28, dualClip: 1.3 }],
  ['ppo-clip', { clipLow: 0.2, clipHigh: 0.2, delta: 1.1 }],
  ['ppo-clip', { clipLow: 0.2, clipHigh: 0.2, delta: 1.4, dualClip: 1.5 }],
  ['ppo-clip', { clipLow: 0.5, clipHigh: 0.5, logRatioClamp: 0.3 }],
  ['cispo', { clipLow: 0.2, clipHigh: 0.2, cap: 1.1 }],
  ['gspo', { clipLow: 0.05, clipHigh: 0.08 }],
  ['dppo-tv', { clipLow: 0.1, clipHigh: 0.05, cap: 1.2 }],
  ['gmpo', { clipLow: 0.1, clipHigh: 0.4 }],
  ['prime-rl', { clipLow: 0.05, clipHigh: 0.1, klTau: 0.3, advTau: 0.5 }],
  ['prime-rl-ipo', { threshold: 0.03, klTau: 0.3, advTau: 2 }],
];

test('every loss and every KL estimator has an independent evaluation', () => {
  for (const { name } of LOSSES) assert.ok(name in LOSS_REFERENCE, name);
  for (const { name } of KL_ESTIMATORS)
    assert.ok(
      KL_FORMS.some(([, { estimator }]) => estimator === name),
      name,
    );
});

for (const [name, params] of [...LOSSES.map(({ name }) => [name, DEFAULTS(name)] as const), ...MORE]) {
  test(`the loss ${name} with ${JSON.stringify(params)} is the independent one, with its derivative`, () => {
    assert.ok(compare(batchOf({ policyLoss: { name, params } }), name, params) > 190);
  });
}

const KL = { estimator: 'k3', coefficient: 0.3, placement: 'loss', weight: 'none' } as const;
const KL_FORMS: readonly [string, KlSettings][] = [
  ...['k1', 'kl', 'abs', 'k2', 'mse', 'k3', 'low_var_kl'].map((estimator): [string, KlSettings] => [
    estimator,
    { ...KL, estimator },
  ]),
  ['k3 with clamps', { ...KL, inputClamp: 0.5, outputClamp: 0.1 }],
  ['k3 with the gradient of k2', { ...KL, gradientOf: 'k2' }],
  ['k1 with the gradient of k2', { ...KL, estimator: 'k1', gradientOf: 'k2' }],
  ['k3 times the ratio', { ...KL, weight: 'ratio' }],
  ['k3 times the probability', { ...KL, weight: 'probability' }],
];

for (const [text, kl] of KL_FORMS) {
  test(`the KL form ${text} is the independent one, with its derivative`, () => {
    const policyLoss = { name: 'ppo-clip', params: { clipLow: 0.2, clipHigh: 0.2 } };
    assert.ok(compare(batchOf({ policyLoss, kl }), 'ppo-clip', policyLoss.params) > 190);
  });
}

const sequence = { ...TIS, level: 'sequence' } as const;
const CORRECTIONS: readonly [string, CorrectionSettings][] = [
  ['truncated per token', TIS],
  ['truncated per token on both sides', { ...TIS, low: 0.9 }],
  ['masked per token', { ...TIS, action: 'mask', low: 0.8 }],
  ['of the sum of a row', { ...sequence, statistic: 'sum', high: 2 }],
  ['of the mean of a row, masked', { ...sequence, statistic: 'mean', action: 'mask', low: 0.9, high: 1.1 }],
  [
    'of the token in rows that are kept',
    { ...sequence, statistic: 'sum', action: 'mask', high: 1.5, keptWeight: 'token' },
  ],
  ['with a clamped exponent', { ...TIS, high: 5, exponentClamp: 0.2 }],
  ['that multiplies the KL term as well', { ...TIS, appliesTo: 'all' }],
];

for (const [text, rolloutCorrection] of CORRECTIONS) {
  test(`the rollout weight ${text} is the independent one`, () => {
    const policyLoss = { name: 'ppo-clip', params: { clipLow: 0.2, clipHigh: 0.2 } };
    const batch = batchOf({ policyLoss, rolloutCorrection, kl: KL });
    assert.ok(compare(batch, 'ppo-clip', policyLoss.params) > 190);
  });
}

for (const name of WITH_WEIGHT) {
  for (const rolloutCorrection of [TIS, { ...sequence, statistic: 'sum', high: 2 } as const]) {
    test(`the loss ${name}, of which the weight of a ${rolloutCorrection.level} is a part, is the independent one`, () => {
      const batch = batchOf({ policyLoss: { name, params: {} }, rolloutCorrection });
      assert.ok(compare(batch, name, DEFAULTS(name)) > 190);
    });
  }
}
