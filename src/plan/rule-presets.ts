import {
  type ResolvedRule,
  type RuleCondition,
  type RulePresetName,
  WRONG_SIGNAL,
} from '../schemas/rules.ts';

/** A condition that has a name. */
interface RulePreset {
  /** What it means for a training, for people. */
  means: string;
  when: RuleCondition;
  /** Times in a row. */
  for: number;
}

/**
 * The presets. Metrics are named as verl-agent's HGPO recipe logs them, which the `local` engine does too. Thresholds
 * are those at which a person looks, not limits of the theory: a spec that wants others states its own condition.
 */
export const RULE_PRESETS: Readonly<Record<RulePresetName, RulePreset>> = {
  'wrong-signal': {
    means: 'a wrong training signal: wrong rows, or a batch that contradicts itself or what it states',
    when: { errors: [WRONG_SIGNAL] },
    for: 1,
  },
  'wrong-rows': {
    means: 'an advantage, or a token of an optimizer step, that no float32 evaluation of the formula gives',
    when: { verification: 'wrongRows', above: 0 },
    for: 1,
  },
  'error-findings': {
    means: 'a batch that contradicts itself or what it states',
    when: { errors: ['any'] },
    for: 1,
  },
  'not-finite': {
    means: 'a loss, a divergence or a gradient norm that is NaN or infinite',
    when: {
      metric: ['actor/pg_loss', 'actor/kl_loss', 'actor/ppo_kl', 'actor/grad_norm', 'actor/entropy_loss'],
      notFinite: true,
    },
    for: 1,
  },
  'kl-high': {
    means: 'updates that change the policy much more than clipping is meant to allow',
    when: { metric: ['actor/ppo_kl'], above: 0.1 },
    for: 3,
  },
  'kl-drift': {
    means: 'a policy far from the reference policy',
    when: { metric: ['actor/kl_loss'], above: 1 },
    for: 3,
  },
  'gradient-norm': {
    means: 'gradients ten times as long as the norm at which the recipe clips them',
    when: { metric: ['actor/grad_norm'], above: 10 },
    for: 3,
  },
  'entropy-collapse': {
    means: 'a policy that hardly explores any more',
    when: { metric: ['actor/entropy_loss'], below: 0.01 },
    for: 5,
  },
  plateau: {
    means: 'a success rate that has not risen by more than 0.01 for 50 steps',
    when: { metric: ['episode/success_rate'], plateau: { window: 50, minDelta: 0.01, goal: 'max' } },
    for: 1,
  },
  rounding: {
    means: 'more than a tenth of a batch decided by rounding',
    when: { verification: 'roundingShare', above: 0.1 },
    for: 1,
  },
  unverifiable: {
    means: 'rows that lack what their verification needs',
    when: { verification: 'unverifiableShare', above: 0 },
    for: 1,
  },
  coverage: {
    means: 'less than nine tenths of the rows verified',
    when: { verification: 'coverage', below: 0.9 },
    for: 1,
  },
  'wrong-step': {
    means: 'a denominator, a reported value or a KL term that an optimizer step does not bear out',
    when: { errors: ['wrong-denominator', 'wrong-reported-value', 'kl-without-gradient'] },
    for: 1,
  },
  'kl-without-gradient': {
    means: 'a KL term that the loss reports and no gradient has',
    when: { errors: ['kl-without-gradient'] },
    for: 1,
  },
  'gpu-fault': {
    means: 'a GPU on a node of the experiment that must be reset or replaced (Xid, ECC, row remapping)',
    when: { metric: ['system/gpu_faults'], above: 0 },
    for: 1,
  },
  'gpu-hot': {
    means: 'a GPU on a node of the experiment above 90 °C for some minutes',
    when: { metric: ['system/gpu_temperature_celsius'], above: 90 },
    for: 10,
  },
};

/** The rules of a spec that has none of its own. */
export const DEFAULT_RULES: readonly RulePresetName[] = ['wrong-signal', 'not-finite'];

/** A `stop-at-checkpoint` that states no bound stops after this, whichever comes first. */
export const DEFAULT_WITHIN = { steps: 50, minutes: 60 } as const;

/** A preset as a rule that marks. */
export function presetRule(name: RulePresetName): ResolvedRule {
  const { when, for: times } = RULE_PRESETS[name];
  return { name, when, do: 'mark', for: times, after: 0 };
}
