import { roundToBfloat16 } from '../../arithmetic/arithmetic.ts';
import type { StepBatch } from '../../format/step-batch.ts';
import type { SettingValue, StepPrecision } from '../../format/step-settings.ts';
import { LOSSES, lossOf } from '../../step/losses/registry.ts';
import { type Change, withoutColumn, withoutSetting, withSettings } from './change.ts';

/** Other parameters of the stated loss, and the other losses. */
export function lossChanges(batch: StepBatch): Change[] {
  const stated = batch.step.policyLoss;
  if (stated === undefined || lossOf(stated.name) === undefined) return [];
  const { parameters } = lossOf(stated.name)!;
  const own = Object.entries(parameters).flatMap(([key, { fallback, guesses = [] }]) => {
    const said = key in stated.params ? stated.params[key]! : fallback;
    return guesses
      .filter((value) => value !== said)
      .map((value) =>
        change(
          stated.name,
          { ...stated.params, [key]: value },
          `${key} is ${textOf(value)}; you said ${textOf(said)}`,
        ),
      );
  });
  const others = LOSSES.filter(({ name }) => name !== stated.name).flatMap((loss) => {
    const shared = Object.fromEntries(
      Object.entries(stated.params).filter(([key]) => key in loss.parameters),
    );
    const said = `you said ${stated.name}`;
    const plain = change(loss.name, shared, `the loss is ${loss.name}; ${said}`);
    if (loss.name === 'cispo') return [plain, capped(shared, stated.name)];
    if (loss.name !== 'ppo-clip' || 'dualClip' in shared) return [plain];
    const dual = { ...shared, dualClip: 3 };
    return [plain, change(loss.name, dual, `the loss is ppo-clip with dual clip at 3; ${said}`)];
  });
  return [...own, ...unclipped(stated.params, stated.name), ...others, ...offPolicyChanges(batch)];
}

/** Without the off-policy mask, or with the distance to another policy. */
function offPolicyChanges({ step: { offPolicyMask }, tokens }: StepBatch): Change[] {
  if (offPolicyMask === undefined) return [];
  const { sampledBy } = offPolicyMask;
  const other = sampledBy === 'old' ? 'rollout' : 'old';
  const without: Change = {
    dimension: 'loss',
    text: 'the off-policy mask has no effect',
    apply: (from) => withoutSetting(from, 'offPolicyMask'),
  };
  const swapped: Change = {
    dimension: 'loss',
    text: `the off-policy mask uses the ${other} log-probs; you said ${sampledBy}`,
    apply: (from) => withSettings(from, { offPolicyMask: { ...offPolicyMask, sampledBy: other } }),
  };
  return tokens.rolloutLogProb === undefined ? [without] : [without, swapped];
}

const textOf = (value: SettingValue): string => (value === null ? 'off' : String(value));

function change(name: string, params: Readonly<Record<string, SettingValue>>, text: string): Change {
  return { dimension: 'loss', text, apply: (batch) => withSettings(batch, { policyLoss: { name, params } }) };
}

/** TRL's CISPO clamps the ratio at epsilon_high itself. */
function capped(shared: Readonly<Record<string, SettingValue>>, said: string): Change {
  const cap = shared.clipHigh ?? 0.2;
  return change(
    'cispo',
    { clipLow: null, cap },
    `the loss is cispo with the ratio capped at ${textOf(cap)} itself; you said ${said}`,
  );
}

function unclipped(params: Readonly<Record<string, SettingValue>>, name: string): Change[] {
  if (name !== 'ppo-clip' && name !== 'gspo') return [];
  const none = { ...params, clipLow: 1e9, clipHigh: 1e9 };
  return [change(name, none, `the ratio is not clipped; you said ${name}`)];
}

/** Other old log-probs than the stated ones, and a ratio in another precision. */
export function oldChanges(batch: StepBatch, precision: StepPrecision): Change[] {
  const { oldLogProb, rolloutLogProb } = batch.tokens;
  const one: Change = {
    dimension: 'old',
    text: 'the ratio is 1 for every token: the old log-probs are not used, or are a copy of the current ones',
    apply: (from) => withoutColumn(from, 'oldLogProb'),
  };
  const bypass: Change = {
    dimension: 'old',
    text: 'the rollout engine’s log-probs are used as the old ones',
    apply: (from) => ({ ...from, tokens: { ...from.tokens, oldLogProb: rolloutLogProb! } }),
  };
  return [
    ...(oldLogProb === undefined ? [] : [one]),
    ...(rolloutLogProb === undefined ? [] : [bypass]),
    ...(precision === 'bfloat16' ? [] : [HALF_RATIO, HALF_LOG_PROBS]),
  ];
}

/** The old log-probs that give the ratio which `ratioOf` gives. */
const withRatio =
  (ratioOf: (logProb: number, old: number) => number) =>
  (from: StepBatch): StepBatch => {
    const { logProb, oldLogProb } = from.tokens;
    if (logProb === undefined || oldLogProb === undefined) return from;
    const own = oldLogProb.map((old, at) => logProb[at]! - Math.log(ratioOf(logProb[at]!, old)));
    return { ...from, tokens: { ...from.tokens, oldLogProb: own } };
  };

const HALF_RATIO: Change = {
  dimension: 'old',
  text: 'the ratio is rounded to bfloat16; you said float32',
  apply: withRatio((logProb, old) => roundToBfloat16(Math.exp(logProb - old))),
};
const HALF_LOG_PROBS: Change = {
  dimension: 'old',
  text: 'the log-probs are rounded to bfloat16 before the ratio; you said float32',
  apply: withRatio((logProb, old) => Math.exp(roundToBfloat16(logProb) - roundToBfloat16(old))),
};
