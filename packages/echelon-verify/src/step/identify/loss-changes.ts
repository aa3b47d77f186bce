import type { SettingValue } from '../format/settings.ts';
import type { StepBatch } from '../format/step-batch.ts';
import { LOSSES, lossOf } from '../losses/registry.ts';
import { type Change, withoutColumn, withSettings } from './change.ts';

/** Clip widths that recipes use. */
const WIDTHS = [0.1, 0.2, 0.25, 0.28, 0.3, 0.4];

/** Other parameters of the stated loss, and the other losses. */
export function lossChanges(batch: StepBatch): Change[] {
  const stated = batch.step.policyLoss;
  if (stated === undefined || lossOf(stated.name) === undefined) return [];
  const { parameters } = lossOf(stated.name)!;
  const own = Object.entries(parameters).flatMap(([key, { fallback }]) => {
    const said = key in stated.params ? stated.params[key]! : fallback;
    return guesses(key, stated.params)
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
    const plain = change(loss.name, shared, `the loss is ${loss.name}; you said ${stated.name}`);
    return loss.name === 'cispo' ? [plain, capped(shared, stated.name)] : [plain];
  });
  return [...own, ...unclipped(stated.params, stated.name), ...others];
}

const textOf = (value: SettingValue): string => (value === null ? 'off' : String(value));

function change(name: string, params: Readonly<Record<string, SettingValue>>, text: string): Change {
  return { dimension: 'loss', text, apply: (batch) => withSettings(batch, { policyLoss: { name, params } }) };
}

/** Values that the parameter has in trainers. */
function guesses(key: string, params: Readonly<Record<string, SettingValue>>): SettingValue[] {
  if (key === 'clipLow' || key === 'clipHigh')
    return [params.clipLow ?? 0.2, params.clipHigh ?? 0.2, ...WIDTHS].filter(
      (one, at, all) => all.indexOf(one) === at,
    );
  if (key === 'dualClip') return [null, 3];
  if (key === 'delta' || key === 'logRatioClamp') return [null, 20];
  if (key === 'cap') return [null, 3, 20, Number(params.clipHigh ?? 0.2)];
  if (key === 'tauPositive' || key === 'tauNegative') return [1, 1.05];
  return [];
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

/** Other old log-probs than the stated ones. */
export function oldChanges(batch: StepBatch): Change[] {
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
  return [...(oldLogProb === undefined ? [] : [one]), ...(rolloutLogProb === undefined ? [] : [bypass])];
}
