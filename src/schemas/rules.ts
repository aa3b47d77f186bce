import { type Static, Type } from 'typebox';
import { strict } from './strict.ts';

const Count = Type.Integer({ minimum: 0 });

/** What a rule does when it fires. */
export const RULE_ACTIONS = ['mark', 'stop', 'stop-at-checkpoint'] as const;
/** See {@link RULE_ACTIONS}. */
export type RuleAction = (typeof RULE_ACTIONS)[number];

/** Conditions with a name of their own; what each stands for is in `plan/rule-presets.ts`. */
export const RULE_PRESET_NAMES = [
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
] as const;
/** See {@link RULE_PRESET_NAMES}. */
export type RulePresetName = (typeof RULE_PRESET_NAMES)[number];

/** Figures of a verified batch that a rule can look at. */
const VERIFICATION_FIGURES = [
  'wrongRows',
  'wrongShare',
  'roundingShare',
  'unverifiableShare',
  'coverage',
] as const;

/** Codes of error findings that a rule can name; `any` is every one of them. */
export const ERROR_CODES = [
  'any',
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
  'non-finite-input',
  'not-verifiable',
] as const;

/** The name under which the early stopping of a sweep appears among the rules. */
export const EARLY_STOPPING = 'early-stopping';

const RuleName = Type.String({
  pattern: '^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$',
  description: 'Lower-case letters, digits and hyphens, at most 40',
});

const MetricName = Type.String({ minLength: 1, maxLength: 200 });

/** When a rule holds: exactly one of `metric`, `verification` and `errors`. */
export const RuleCondition = Type.Object(
  {
    metric: Type.Optional(
      Type.Array(MetricName, {
        minItems: 1,
        maxItems: 8,
        description: 'Names of metrics as the trainer logs them; any of them',
      }),
    ),
    verification: Type.Optional(
      Type.Enum([...VERIFICATION_FIGURES], {
        type: 'string',
        description:
          'Of each verified batch; coverage: rows verified of all rows that were reported on or dropped so far in the attempt',
      }),
    ),
    errors: Type.Optional(
      Type.Array(Type.Enum([...ERROR_CODES], { type: 'string' }), {
        minItems: 1,
        maxItems: ERROR_CODES.length,
        description: 'Codes of error findings of a verified batch; any of them',
      }),
    ),
    above: Type.Optional(Type.Number({ description: 'Holds where the value is greater' })),
    below: Type.Optional(Type.Number({ description: 'Holds where the value is less' })),
    notFinite: Type.Optional(
      Type.Literal(true, { description: 'metric only: holds where the value is NaN or infinite' }),
    ),
    plateau: Type.Optional(
      Type.Object(
        {
          window: Type.Integer({
            minimum: 1,
            maximum: 1_000_000,
            description: 'Values in a row that brought no improvement',
          }),
          minDelta: Type.Number({ minimum: 0, description: 'What counts as an improvement: more than this' }),
          goal: Type.Optional(
            Type.Union([Type.Literal('max'), Type.Literal('min')], {
              description: 'max where it is left out',
            }),
          ),
        },
        { ...strict, description: 'metric only: holds where the best value has not improved for a while' },
      ),
    ),
  },
  strict,
);
/** See {@link RuleCondition}. */
export type RuleCondition = Static<typeof RuleCondition>;

const within = {
  steps: Type.Integer({ minimum: 1, maximum: 1_000_000, description: "The trainer's steps" }),
  minutes: Type.Number({ exclusiveMinimum: 0, maximum: 10_080 }),
};

/** A rule as it is submitted: a preset's name, or a condition. */
export const RuleSpec = Type.Object(
  {
    name: Type.Optional(RuleName),
    preset: Type.Optional(
      Type.Enum([...RULE_PRESET_NAMES], { type: 'string', description: 'In the place of `when`' }),
    ),
    when: Type.Optional(RuleCondition),
    do: Type.Optional(
      Type.Enum([...RULE_ACTIONS], {
        type: 'string',
        description:
          'mark: it is shown; stop: the attempt is ended as by a cancel; stop-at-checkpoint: at its next checkpoint. mark where it is left out',
      }),
    ),
    for: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100_000, description: 'Times in a row; 1 where it is left out' }),
    ),
    after: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: 'Only steps greater than this count' }),
    ),
    within: Type.Optional(
      Type.Object(
        { steps: Type.Optional(within.steps), minutes: Type.Optional(within.minutes) },
        {
          ...strict,
          description:
            'stop-at-checkpoint only: the stop comes at the latest after so many steps, or so many minutes',
        },
      ),
    ),
  },
  strict,
);
/** See {@link RuleSpec}. */
export type RuleSpec = Static<typeof RuleSpec>;

/** The `rules` of a spec. */
export const Rules = Type.Array(RuleSpec, {
  maxItems: 20,
  description:
    'What is to happen by itself; where it is left out: mark wrong rows and losses that are not finite',
});

/** A rule with its defaults, and with its preset's condition; as a rule of a spec it means the same. */
export const ResolvedRule = Type.Object(
  {
    name: RuleName,
    when: RuleCondition,
    do: Type.Enum([...RULE_ACTIONS], { type: 'string' }),
    for: Type.Integer({ minimum: 1 }),
    after: Count,
    within: Type.Optional(Type.Object(within, strict)),
  },
  { ...strict, $id: 'Rule' },
);
/** See {@link ResolvedRule}. */
export type ResolvedRule = Static<typeof ResolvedRule>;

/** Why a rule fired. */
export const RuleEvidence = Type.Object(
  {
    condition: Type.String({ description: 'In words' }),
    values: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'Of the metric, the figure or the finding' }),
          step: Count,
          value: Type.Union([Type.Number(), Type.String()], {
            description: 'NaN, Infinity and -Infinity as texts',
          }),
          batch: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
        },
        strict,
      ),
      { description: 'The last ones that met the condition, oldest first' },
    ),
  },
  strict,
);
/** See {@link RuleEvidence}. */
export type RuleEvidence = Static<typeof RuleEvidence>;

/** A rule that fired: at most once in an attempt. */
export const RuleFired = Type.Object(
  {
    attempt: Type.Integer({ minimum: 0 }),
    step: Count,
    at: Type.Integer({ description: 'Milliseconds since 1970' }),
    batch: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
      description: 'The batch that it is about; it is kept, and can be had as a bundle',
    }),
    reason: Type.String({ description: 'What happened, in a sentence' }),
    evidence: RuleEvidence,
  },
  strict,
);
/** See {@link RuleFired}. */
export type RuleFired = Static<typeof RuleFired>;

/** A rule of an experiment and when it fired. */
export const RuleStatus = Type.Object(
  {
    name: Type.String(),
    do: Type.Enum([...RULE_ACTIONS], { type: 'string' }),
    fired: Type.Array(RuleFired),
  },
  strict,
);
/** See {@link RuleStatus}. */
export type RuleStatus = Static<typeof RuleStatus>;

/** What ended an experiment in the place of a person. */
export const StoppedBy = Type.Object(
  {
    rule: Type.String({ description: 'Name of the rule; early-stopping: that of its sweep' }),
    reason: Type.String(),
    at: Type.Integer({ description: 'Milliseconds since 1970' }),
  },
  strict,
);
/** See {@link StoppedBy}. */
export type StoppedBy = Static<typeof StoppedBy>;

/** The rules of an experiment, what they look at, and when they fired. */
export const ExperimentRules = Type.Object(
  {
    rules: Type.Array(
      Type.Object(
        { ...ResolvedRule.properties, condition: Type.String(), fired: RuleStatus.properties.fired },
        strict,
      ),
    ),
    marks: Type.Integer({ minimum: 0, description: 'Times that any of them fired' }),
    stoppedBy: Type.Union([StoppedBy, Type.Null()]),
  },
  { ...strict, $id: 'ExperimentRules' },
);
/** See {@link ExperimentRules}. */
export type ExperimentRules = Static<typeof ExperimentRules>;

/** The conditions that have a name. */
export const RulePresets = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          name: Type.Enum([...RULE_PRESET_NAMES], { type: 'string' }),
          means: Type.String(),
          condition: Type.String({ description: 'In words' }),
          rule: Type.Unsafe<ResolvedRule>({ $ref: 'Rule#' }),
        },
        strict,
      ),
    ),
  },
  { ...strict, $id: 'RulePresets' },
);
/** See {@link RulePresets}. */
export type RulePresets = Static<typeof RulePresets>;
