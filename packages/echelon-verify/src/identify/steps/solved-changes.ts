/** Constants that are solved for from the gradient coefficients, and tried like any other change. */

import { significant } from 'command-kit/number';
import { errorOf } from '../../arithmetic/interval.ts';
import type { StepBatch } from '../../format/step-batch.ts';
import type { StepPrecision } from '../../format/step-settings.ts';
import { lossOf } from '../../step/losses/registry.ts';
import type { Layout } from '../../step/model/layout.ts';
import type { StepModel, TokenChain } from '../../step/model/model.ts';
import { stepModel } from '../../step/stages/chain.ts';
import { type Change, withoutColumn, withSettings } from './change.ts';
import { roundest } from './roundest.ts';

/** Where constants are solved for. */
export interface Solving {
  readonly layout: Layout;
  readonly precision: StepPrecision;
  readonly rows: readonly number[];
}

/** All solved changes. Empty without gradient coefficients that can be compared. */
export function solvedChanges(batch: StepBatch, how: Solving): Change[] {
  const model = stepModel(batch, how.precision, how.layout);
  if (batch.tokens.lossGradient === undefined || model.lacks.gradient.length > 0) return [];
  return [
    ...linearChanges(batch, how),
    ...edgeChanges(batch, model, how.rows),
    ...capChanges(batch, model, how.rows),
  ];
}

/** Constants on which the gradient depends linearly. */
function linearChanges(batch: StepBatch, how: Solving): Change[] {
  const { kl, policyLoss } = batch.step;
  const changes: Change[] = [];
  if (kl !== undefined && kl.placement === 'loss') {
    const apply = (value: number) => (from: StepBatch) =>
      withSettings(from, { kl: { ...kl, coefficient: value } });
    const value = solveLinear(batch, how, apply);
    // Without the term nothing is solved for.
    if (value !== undefined && value !== 0 && value !== kl.coefficient)
      changes.push({
        dimension: 'kl',
        text: `the KL coefficient is ${significant(value, 6)}; you said ${kl.coefficient}`,
        apply: apply(value),
      });
  }
  const parameters = Object.entries(lossOf(policyLoss?.name ?? '')?.parameters ?? {});
  const key = parameters.find(([, { isLinear }]) => isLinear === true)?.[0];
  if (key !== undefined && policyLoss !== undefined) {
    const apply = (value: number) => (from: StepBatch) =>
      withSettings(from, { policyLoss: { ...policyLoss, params: { ...policyLoss.params, [key]: value } } });
    const value = solveLinear(batch, how, apply);
    const said = policyLoss.params[key] ?? lossOf(policyLoss.name)!.parameters[key]!.fallback;
    if (value !== undefined && value !== said)
      changes.push({
        dimension: 'loss',
        text: `${key} is ${significant(value, 6)}; you said ${said}`,
        apply: apply(value),
      });
  }
  return changes;
}

/** The value v of g(v) = g(0) + v·(g(1) − g(0)) at every token, within the errors; undefined if there is no one value. */
function solveLinear(
  batch: StepBatch,
  { layout, precision, rows }: Solving,
  apply: (value: number) => (from: StepBatch) => StepBatch,
): number | undefined {
  const [none, one] = [0, 1].map((value) => stepModel(apply(value)(batch), precision, layout));
  const { offset, lossGradient } = batch.tokens;
  if (none!.lacks.gradient.length > 0 || one!.lacks.gradient.length > 0) return undefined;
  let [least, most] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const row of rows) {
    none!.startRow(row);
    one!.startRow(row);
    for (let token = offset[row]!; token < offset[row + 1]!; token++) {
      if (none!.kept?.[token] === 0) continue;
      const a = none!.evaluate(row, token).gradient;
      const b = one!.evaluate(row, token).gradient;
      const slope = b.value - a.value;
      if (slope === 0 || !Number.isFinite(slope)) continue;
      const value = (lossGradient![token]! - a.value) / slope;
      const error = errorOf(a) + Math.abs(value) * (errorOf(a) + errorOf(b));
      const blur = error / Math.abs(slope);
      least = Math.max(least, value - blur);
      most = Math.min(most, value + blur);
      if (!(least <= most)) return undefined;
    }
  }
  return Number.isFinite(most - least) ? roundest(least, most) : undefined;
}

/** Where the gradient of the policy stops, for each sign of the advantage. */
function edgeChanges(batch: StepBatch, model: StepModel, rows: readonly number[]): Change[] {
  const { policyLoss } = batch.step;
  const measure = lossOf(policyLoss?.name ?? '')?.measure;
  if (measure === undefined || policyLoss === undefined) return [];
  const { lossGradient } = batch.tokens;
  const edges = {
    clipHigh: { moved: 0, stopped: Number.POSITIVE_INFINITY },
    clipLow: { moved: 0, stopped: Number.POSITIVE_INFINITY },
    dualClip: { moved: 1, stopped: Number.POSITIVE_INFINITY },
  };
  for (const { row, token } of tokensOf(model, rows)) {
    const chain = model.evaluate(row, token);
    const { advantage } = chain.state;
    const value = measure(chain.state);
    const isDown = advantage < 0;
    if (advantage === 0) continue;
    const key = isDown ? (value > 0 ? 'dualClip' : 'clipLow') : 'clipHigh';
    const size = key === 'dualClip' ? value + 1 : isDown ? -value : value;
    if (size < (key === 'dualClip' ? 1 : 0)) continue;
    const off = Math.abs(lossGradient![token]! - chain.klPart.value);
    if (off > errorOf(chain.klPart)) edges[key].moved = Math.max(edges[key].moved, size);
    else edges[key].stopped = Math.min(edges[key].stopped, size);
  }
  const { parameters } = lossOf(policyLoss.name)!;
  return Object.entries(edges).flatMap(([key, { moved, stopped }]): Change[] => {
    const said = policyLoss.params[key] ?? parameters[key]?.fallback;
    const isStated = typeof said === 'number' && said >= moved && said <= stopped;
    if (!(key in parameters) || isStated || !(moved < stopped) || stopped === Number.POSITIVE_INFINITY)
      return [];
    const value = roundest(moved, stopped);
    const params = { ...policyLoss.params, [key]: value };
    return [
      {
        dimension: 'loss',
        text: `${key} is ${value}, between ${significant(moved, 5)} and ${significant(stopped, 5)}; you said ${said ?? 'off'}`,
        apply: (from) => withSettings(from, { policyLoss: { ...policyLoss, params } }),
      },
    ];
  });
}

/** Caps at which several weights stand although their ratios are larger. In bfloat16 many weights are equal without a cap. */
function capChanges(batch: StepBatch, model: StepModel, rows: readonly number[]): Change[] {
  if (model.arithmetic.name === 'bfloat16') return [];
  return [...lossCaps(batch, model, rows), ...weightCaps(batch, model, rows)];
}

function lossCaps({ step: { policyLoss } }: StepBatch, model: StepModel, rows: readonly number[]): Change[] {
  const cap = policyLoss?.name === 'cispo' ? capOf(model, rows, ofCispo) : undefined;
  if (cap === undefined || policyLoss === undefined) return [];
  const { cap: stated, clipHigh = 0.2 } = policyLoss.params;
  const params = { ...policyLoss.params, cap };
  return [
    {
      dimension: 'loss',
      text: `cap is ${cap}; you said ${stated ?? `1 + clipHigh (${clipHigh})`}`,
      apply: (from) => withSettings(from, { policyLoss: { ...policyLoss, params } }),
    },
  ];
}

const TOKEN_WEIGHT = {
  level: 'token',
  statistic: 'ratio',
  appliesTo: 'policy',
  keptWeight: 'statistic',
} as const;

function weightCaps({ step, tokens }: StepBatch, model: StepModel, rows: readonly number[]): Change[] {
  const { rolloutCorrection: stated } = step;
  const { logProb, oldLogProb = logProb, rolloutLogProb } = tokens;
  if (rolloutLogProb === undefined || (stated !== undefined && stated.level !== 'token')) return [];
  const high = capOf(model, rows, ({ policyPart, weight }, token) => [
    policyPart.value / (stated === undefined ? 1 : weight.value),
    Math.exp(oldLogProb![token]! - rolloutLogProb[token]!),
  ]);
  if (high === undefined) return [];
  const rolloutCorrection = { ...TOKEN_WEIGHT, ...stated, action: 'truncate' as const, high };
  const text =
    stated === undefined
      ? `a rollout weight, truncated at ${high}, multiplies the loss; you stated none`
      : `the rollout weight is truncated at ${high}; you said ${stated.action} at ${stated.high ?? 'no limit'}`;
  return [
    {
      dimension: 'weight',
      text,
      apply: (from) => withSettings(withoutColumn(from, 'rolloutWeight'), { rolloutCorrection }),
    },
  ];
}

const ofCispo = ({ loss, policyPart, state }: TokenChain): [number, number] => [
  // The factor between the derivative of the loss and the coefficient, and −A: what is left is the weight.
  (policyPart.value / loss.gradient.value) * -state.advantage,
  state.ratio,
];

/** Relative agreement of weights at one cap, in float32. */
const AT_CAP = 4e-6;

/** `unitOf`: the coefficient of a token with the weight 1, and the weight that it would have without a cap. */
function capOf(
  model: StepModel,
  rows: readonly number[],
  unitOf: (chain: TokenChain, token: number) => [number, number],
): number | undefined {
  const { lossGradient } = model.batch.tokens;
  const found: { weight: number; ratio: number }[] = [];
  for (const { row, token } of tokensOf(model, rows)) {
    const chain = model.evaluate(row, token);
    const [unit, ratio] = unitOf(chain, token);
    const weight = (lossGradient![token]! - chain.klPart.value) / unit;
    if (Number.isFinite(weight) && weight > 0) found.push({ weight, ratio });
  }
  const most = found.reduce((so, { weight }) => Math.max(so, weight), 0);
  const isCapped = ({ weight, ratio }: { weight: number; ratio: number }) =>
    weight >= most * (1 - AT_CAP) && ratio > most * (1 + AT_CAP);
  const capped = found.filter(isCapped);
  if (capped.length < 2) return undefined;
  return roundest(most * (1 - AT_CAP), most * (1 + AT_CAP));
}

/** The trained tokens of some rows, each after the row is started. */
function* tokensOf(model: StepModel, rows: readonly number[]): Generator<{ row: number; token: number }> {
  const { offset } = model.batch.tokens;
  for (const row of rows) {
    model.startRow(row);
    for (let token = offset[row]!; token < offset[row + 1]!; token++)
      if (model.kept?.[token] !== 0) yield { row, token };
  }
}
