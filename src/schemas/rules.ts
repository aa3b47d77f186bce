import { NOT_VERIFIABLE } from 'echelon-verify/report';
import { type Static, Type } from 'typebox';
import { Count, CountOf, nullable, Text } from './answer-parts.ts';
import { metricName } from './metric-name.ts';
import { DescribedObject, NamedObject, StrictObject } from './objects.ts';
import { choice, count } from './optional-fields.ts';

/** What a rule does when it fires. */
export const RULE_ACTIONS = ['mark', 'stop', 'stop-at-checkpoint'] as const;
/** See {@link RULE_ACTIONS}. */
export type RuleAction = (typeof RULE_ACTIONS)[number];

/** Conditions with a name of their own; what each stands for is in `plan/rule-presets.ts`. */
export const RULE_PRESET_NAMES = [
  'wrong-signal',
  'wrong-rows',
  'error-findings',
  'not-finite',
  'kl-high',
  'kl-drift',
  'gradient-norm',
  'entropy-collapse',
  'plateau',
  'rounding',
  'unverifiable',
  'coverage',
  'wrong-step',
  'kl-without-gradient',
  'gpu-fault',
  'gpu-hot',
] as const;
/** See {@link RULE_PRESET_NAMES}. */
export type RulePresetName = (typeof RULE_PRESET_NAMES)[number];

/** In place of a code: whatever makes the training signal of a batch wrong. */
export const WRONG_SIGNAL = 'wrong-signal';

/** Figures of a verified batch that a rule can look at. */
const VERIFICATION_FIGURES = [
  'wrongRows',
  'wrongShare',
  'roundingShare',
  'unverifiableShare',
  'coverage',
] as const;

/** Codes of error findings that a rule can name; `any` is every one of them, {@link WRONG_SIGNAL} each that makes the signal wrong. */
export const ERROR_CODES = [
  'any',
  WRONG_SIGNAL,
  'wrong-rows',
  'rows-missing',
  'rows-surplus',
  'row-duplicated',
  'steps-out-of-order',
  'step-gap',
  'trajectory-in-two-groups',
  'grouped-by-trajectory',
  'group-size',
  'group-count',
  'returns-mismatch',
  'score-mismatch',
  'transition-mismatch',
  'non-finite-input',
  'advantage-non-finite',
  'zero-with-spread',
  'rows-lost',
  'unscorable-rewarded',
  'block-mixed',
  'group-apart',
  'block-partial',
  NOT_VERIFIABLE,
  'wrong-denominator',
  'wrong-reported-value',
  'kl-without-gradient',
  'ratio-overflow',
  'mean-without-number',
  'batch-empty',
  'last-token-untrained',
  'micro-batch-repeated',
  'padding-trained',
  'ranks-disagree',
  'shared-factor',
] as const;

/** The name under which the early stopping of a sweep appears among the rules. */
export const EARLY_STOPPING = 'early-stopping';

const RuleName = Type.String({
  pattern: '^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$',
  description: 'Name of the rule: at most 40 lower-case letters, digits and hyphens.',
});

/** When a rule holds: exactly one of `metric`, `verification` and `errors`. */
export const RuleCondition = StrictObject({
  metric: Type.Optional(
    Type.Array(metricName('Name of a metric as the trainer logs it.'), {
      minItems: 1,
      maxItems: 8,
      description: 'Metric names as the trainer logs them. The condition holds if it holds for any of them.',
    }),
  ),
  verification: Type.Optional(
    Type.Enum([...VERIFICATION_FIGURES], {
      type: 'string',
      description:
        'Figure of each verified batch. `coverage` is the share of verified rows among all rows that the attempt has reported or dropped so far.',
    }),
  ),
  errors: Type.Optional(
    Type.Array(Type.Enum([...ERROR_CODES], { type: 'string' }), {
      minItems: 1,
      maxItems: ERROR_CODES.length,
      description:
        'Codes of error findings. The condition holds if a verified batch has any of them. `wrong-signal`: any finding that makes the training signal wrong, which is every one but `not-verifiable`, and wrong rows.',
    }),
  ),
  above: Type.Optional(Type.Number({ description: 'The condition holds if the value is greater.' })),
  below: Type.Optional(Type.Number({ description: 'The condition holds if the value is less.' })),
  notFinite: Type.Optional(
    Type.Literal(true, {
      description: 'For `metric` only: the condition holds if the value is NaN or infinite.',
    }),
  ),
  plateau: Type.Optional(
    DescribedObject('For `metric` only: the condition holds if the best value has stopped improving.', {
      window: Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'Number of consecutive values without an improvement.',
      }),
      minDelta: Type.Number({
        minimum: 0,
        description: 'Smallest difference that counts as an improvement.',
      }),
      goal: choice(['max', 'min'], 'Whether a higher or a lower value is better. Default: max.'),
    }),
  ),
});
export type RuleCondition = Static<typeof RuleCondition>;

const within = {
  steps: Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Training steps.' }),
  minutes: Type.Number({ exclusiveMinimum: 0, maximum: 10_080 }),
};

/** A rule as it is submitted: a preset's name, or a condition. */
export const RuleSpec = StrictObject({
  name: Type.Optional(RuleName),
  preset: Type.Optional(
    Type.Enum([...RULE_PRESET_NAMES], {
      type: 'string',
      description: 'Name of a preset condition, instead of `when`.',
    }),
  ),
  when: Type.Optional(RuleCondition),
  do: Type.Optional(
    Type.Enum([...RULE_ACTIONS], {
      type: 'string',
      description:
        'Action when the condition holds. `mark` records it. `stop` cancels the experiment. `stop-at-checkpoint` cancels it after its next checkpoint. Default: mark.',
    }),
  ),
  for: count(1, 100_000, 'Number of consecutive times that the condition must hold. Default: 1.'),
  after: count(0, 1_000_000_000, 'The rule ignores steps up to this one. Default: 0.'),
  within: Type.Optional(
    DescribedObject(
      'For `stop-at-checkpoint` only: the latest stop, in steps or minutes after the rule fired.',
      { steps: Type.Optional(within.steps), minutes: Type.Optional(within.minutes) },
    ),
  ),
});
export type RuleSpec = Static<typeof RuleSpec>;

/** The `rules` of a spec. */
export const Rules = Type.Array(RuleSpec, {
  maxItems: 20,
  description:
    'Rules that Echelon evaluates during the run. Default: mark a wrong training signal and non-finite losses.',
});

/** A rule with its defaults, and with its preset's condition; as a rule of a spec it means the same. */
export const ResolvedRule = NamedObject('Rule', {
  name: RuleName,
  when: RuleCondition,
  do: Type.Enum([...RULE_ACTIONS], { type: 'string' }),
  for: Type.Integer({ minimum: 1 }),
  after: Count,
  within: Type.Optional(StrictObject(within)),
});
export type ResolvedRule = Static<typeof ResolvedRule>;

/** Why a rule fired. */
export const RuleEvidence = StrictObject({
  condition: Text('In words'),
  values: Type.Array(
    StrictObject({
      name: Text('Name of the metric, the figure or the finding.'),
      step: Count,
      value: Type.Union([Type.Number(), Type.String()], {
        description: 'The value. NaN, Infinity and -Infinity are strings.',
      }),
      batch: nullable(Type.Integer({ minimum: 1 })),
    }),
    { description: 'Latest values that met the condition, oldest first.' },
  ),
});
export type RuleEvidence = Static<typeof RuleEvidence>;

/** A rule that fired: at most once in an attempt. */
export const RuleFired = StrictObject({
  attempt: Type.Integer({ minimum: 0 }),
  step: Count,
  at: Type.Integer({ description: 'Time in ms since 1970.' }),
  batch: nullable(Type.Integer({ minimum: 1 }), {
    description:
      'Number of the batch in question. Retention does not delete this batch, and it can be downloaded as a bundle.',
  }),
  reason: Text('What happened, in one sentence.'),
  evidence: RuleEvidence,
});
export type RuleFired = Static<typeof RuleFired>;

/** A rule of an experiment and when it fired. */
export const RuleStatus = StrictObject({
  name: Type.String(),
  do: Type.Enum([...RULE_ACTIONS], { type: 'string' }),
  fired: Type.Array(RuleFired),
});
export type RuleStatus = Static<typeof RuleStatus>;

/** What ended an experiment in the place of a person. */
export const StoppedBy = StrictObject({
  rule: Text('Name of the rule; `early-stopping` is the rule of the sweep.'),
  reason: Type.String(),
  at: Type.Integer({ description: 'Time in ms since 1970.' }),
});
export type StoppedBy = Static<typeof StoppedBy>;

/** The rules of an experiment, what they look at, and when they fired. */
export const ExperimentRules = NamedObject('ExperimentRules', {
  rules: Type.Array(
    StrictObject({
      ...ResolvedRule.properties,
      condition: Type.String(),
      fired: RuleStatus.properties.fired,
    }),
  ),
  marks: CountOf('Number of times that any rule fired.'),
  stoppedBy: nullable(StoppedBy),
});
export type ExperimentRules = Static<typeof ExperimentRules>;

/** The conditions that have a name. */
export const RulePresets = NamedObject('RulePresets', {
  items: Type.Array(
    StrictObject({
      name: Type.Enum([...RULE_PRESET_NAMES], { type: 'string' }),
      means: Type.String(),
      condition: Text('In words'),
      rule: Type.Unsafe<ResolvedRule>({ $ref: 'Rule#' }),
    }),
  ),
});
export type RulePresets = Static<typeof RulePresets>;
