import { type Static, Type } from 'typebox';
import { MAX_CHILDREN } from '../core/ids.ts';
import { STATES } from '../core/states.ts';
import { Count, CountOf, Cursor, nullable, oneOf, outcomes, Text } from './answer-parts.ts';
import type { ComparisonPlan } from './comparison.ts';
import { VerificationCounts } from './experiment.ts';
import { metricName } from './metric-name.ts';
import { DescribedObject, NamedObject, StrictObject } from './objects.ts';
import { choice, count, flag } from './optional-fields.ts';
import { Label } from './spec-parts.ts';

/** Layout version of stored sweeps. */
export const SWEEP_VERSION = 1;

/** How the children of a sweep come from its axes. */
const SWEEP_METHODS = ['grid', 'list', 'random'] as const;
/** How the children of a stored sweep came about: of a preset, each has a spec of its own. */
const RECORDED_METHODS = [...SWEEP_METHODS, 'preset'] as const;
/** Every state of a sweep; `cancelled` is set at once, its children end a little later. */
const SWEEP_STATES = ['running', 'done', 'cancelled'] as const;

/** Numbers that a random sweep draws from. */
export const SweepRange = StrictObject({
  min: Type.Number(),
  max: Type.Number(),
  scale: choice(
    ['linear', 'log'],
    'Scale of the draws. `log` draws the logarithm uniformly. Default: linear.',
  ),
  integer: flag('Whether only whole numbers are drawn. Default: false.'),
});
export type SweepRange = Static<typeof SweepRange>;

const MetricName = metricName('Name of the metric as the trainer logs it.');

/** When a child is stopped because the others do better: the median rule. */
export const EarlyStopping = DescribedObject(
  "Stops a child whose best value so far is worse than the median of the other children's running averages at the same step.",
  {
    metric: MetricName,
    goal: oneOf(['max', 'min']),
    afterSteps: Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      description: 'Step of the first comparison.',
    }),
    everySteps: Type.Integer({
      minimum: 1,
      maximum: 1_000_000_000,
      description: 'Steps between two comparisons.',
    }),
    minChildren: Type.Integer({
      minimum: 1,
      maximum: MAX_CHILDREN,
      description: 'Number of other children that must have reached the step.',
    }),
  },
);
export type EarlyStopping = Static<typeof EarlyStopping>;

/** The metric by which the combinations of a sweep are compared if a request names no other. */
export const SweepMetric = DescribedObject(
  'Metric by which the combinations are compared. Default: the metric of `earlyStopping`, else val/success_rate, where more is better.',
  { name: MetricName, goal: choice(['max', 'min'], 'Which value is better. Default: max.') },
);
export type SweepMetric = Static<typeof SweepMetric>;

/** What a person submits to run one spec many times with other values. */
export const SweepRequest = NamedObject('SweepRequest', {
  name: Label,
  method: Type.Enum([...SWEEP_METHODS], {
    type: 'string',
    description:
      '`grid` runs every combination; the last axis changes fastest. `list` combines the n-th values of all axes. `random` makes `count` draws.',
  }),
  spec: Type.Object(
    {},
    {
      additionalProperties: true,
      description:
        'Experiment spec without the fields that the axes set. Default of its name: made from the values.',
    },
  ),
  axes: Type.Record(
    Type.String(),
    Type.Union([
      Type.Array(Type.Unknown(), { minItems: 1, maxItems: MAX_CHILDREN }),
      Type.Unsafe<SweepRange>(SweepRange),
    ]),
    {
      minProperties: 1,
      maxProperties: 16,
      description:
        'Values by field of the spec, as JSON pointer (/training/seed) or with dots (training.seed). For `random`, a range {min, max} is also allowed.',
    },
  ),
  count: count(1, MAX_CHILDREN, 'random: number of draws.'),
  seed: count(0, 2147483647, 'random: seed of the draws. Default: 1.'),
  metric: Type.Optional(Type.Unsafe<SweepMetric>(SweepMetric)),
  earlyStopping: Type.Optional(Type.Unsafe<EarlyStopping>(EarlyStopping)),
});
export type SweepRequest = Static<typeof SweepRequest>;

/** One axis of a sweep, its place written as JSON pointer. */
export const SweepAxis = StrictObject({
  pointer: Text('JSON pointer into the spec.'),
  values: Type.Optional(Type.Array(Type.Unknown())),
  range: Type.Optional(Type.Unsafe<SweepRange>(SweepRange)),
});
export type SweepAxis = Static<typeof SweepAxis>;

const Values = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Values of the child, by JSON pointer into the spec.',
});

const Best = StrictObject({
  values: Values,
  mean: Type.Number({ description: 'Mean of the last values of its succeeded children.' }),
  combinations: CountOf('Number of combinations of the sweep.'),
});

/** A sweep's record, with its children counted by state. Times are ms since 1970. */
export const Sweep = NamedObject('Sweep', {
  version: Type.Literal(SWEEP_VERSION),
  id: Type.String(),
  name: Type.String(),
  project: Type.String(),
  method: Type.Enum([...RECORDED_METHODS], { type: 'string' }),
  seed: nullable(Type.Integer(), {
    description: 'Seed of the random draws; null for other methods.',
  }),
  state: Type.Enum([...SWEEP_STATES], {
    type: 'string',
    description:
      'State of the sweep. A sweep is `running` while children can still end. It is `cancelled` at once; `endedAt` is set when its last child has ended.',
  }),
  reason: Type.String(),
  count: Type.Integer({ minimum: 1, description: 'Number of children.' }),
  expanded: CountOf('Number of children that exist as experiments.'),
  counts: DescribedObject(
    'Existing children by state. Of a child that was run again, the latest run counts.',
    Object.fromEntries(STATES.map((state) => [state, Count])) as Record<
      (typeof STATES)[number],
      typeof Count
    >,
  ),
  metric: DescribedObject('Metric by which the combinations are compared.', {
    name: Type.String(),
    goal: oneOf(['max', 'min']),
  }),
  best: Type.Optional(
    nullable(Best, {
      description:
        'The combination with the best mean over seeds; only in lists with `best=true`. null: no succeeded child has the metric, or the sweep has more than 2,000 children.',
    }),
  ),
  earlyStopping: nullable(Type.Unsafe<EarlyStopping>(EarlyStopping)),
  comparison: nullable(Type.Unsafe<ComparisonPlan>({ $ref: 'ComparisonPlan#' }), {
    description: 'Plan of the comparison whose runs the children are; null: the sweep belongs to none.',
  }),
  skipped: CountOf(
    'Number of children that never run because the child that they depend on did not succeed.',
  ),
  stoppedEarly: CountOf('Number of children that early stopping ended.'),
  createdAt: Type.Integer(),
  endedAt: nullable(Type.Integer()),
});
export type Sweep = Static<typeof Sweep>;

/** A page of sweeps, newest first. */
export const SweepPage = NamedObject('SweepPage', {
  items: Type.Array(Type.Unsafe<Sweep>({ $ref: 'Sweep#' })),
  next: Cursor,
});
export type SweepPage = Static<typeof SweepPage>;

const Warnings = Type.Array(Type.String(), {
  description:
    'Children for which no node of any cluster is large enough now, which stay queued until one joins, and the number of children of a random sweep that repeat an earlier one.',
});

/** The answer to an accepted sweep; equal for every repetition of the request with its Idempotency-Key, but for `warnings`. */
export const SweepAccepted = NamedObject('SweepAccepted', {
  id: Type.String(),
  self: Text('Path of the sweep.'),
  count: Count,
  warnings: Warnings,
});
export type SweepAccepted = Static<typeof SweepAccepted>;

/** A dry run: how many children there would be, and the first of them. */
export const SweepPreview = NamedObject('SweepPreview', {
  count: Count,
  axes: Type.Array(SweepAxis),
  warnings: Warnings,
  children: Type.Array(
    StrictObject({ index: Count, name: Type.String(), values: Values, spec: Type.Unknown() }),
  ),
});
export type SweepPreview = Static<typeof SweepPreview>;

/** A sweep with its spec, its axes and a page of its children. */
export const SweepDetail = NamedObject('SweepDetail', {
  ...Sweep.properties,
  spec: Type.Unknown({
    description: 'Spec that all children share. For a preset: `children`, with one spec each.',
  }),
  axes: Type.Array(SweepAxis),
  children: Type.Array(
    StrictObject({
      index: Count,
      experiment: Text('Id of the experiment, also before the experiment exists.'),
      run: CountOf('Number of re-runs of the child.'),
      after: nullable(Type.Integer(), {
        description: 'Index of the child that must succeed before this one runs',
      }),
      skipped: nullable(Type.String(), {
        description: 'Why the child never runs; null if it does.',
      }),
      state: nullable(Type.Enum([...STATES], { type: 'string' }), {
        description: 'State of the experiment; null before it exists and after it was deleted.',
      }),
      verification: nullable(VerificationCounts, {
        description: 'Verified rows of the experiment; null before it exists and after it was deleted.',
      }),
      values: Values,
    }),
  ),
  next: Cursor,
});
export type SweepDetail = Static<typeof SweepDetail>;

/** How many children were run again. */
export const SweepRerun = NamedObject('SweepRerun', {
  rerun: Count,
  sweep: Type.Unsafe<Sweep>({ $ref: 'Sweep#' }),
});
export type SweepRerun = Static<typeof SweepRerun>;

const Nullable = nullable(Type.Number());

const spread = (children: string) => ({
  mean: Nullable,
  std: nullable(Type.Number(), {
    description: 'Sample standard deviation (n - 1); null for fewer than two values.',
  }),
  n: CountOf(`Number of ${children} with a finite value.`),
  min: Nullable,
  max: Nullable,
  interval: nullable(StrictObject({ low: Type.Number(), high: Type.Number() }), {
    description:
      "95 % confidence interval of the mean by Student's t, limited to 0 and 1 for a success rate; null for fewer than two values.",
  }),
});

/** One combination of values, aggregated over its seeds. */
export const SweepCombination = StrictObject({
  values: Values,
  children: CountOf('Number of children of this combination.'),
  succeeded: Count,
  failed: Count,
  metrics: Type.Record(Type.String(), StrictObject(spread('succeeded children')), {
    description: 'Statistics of the last values of succeeded children, by metric.',
  }),
  rows: DescribedObject('Verified rows of all children of the combination.', { ...outcomes }),
  customCode: Type.Boolean({
    description: "Whether the spec loads the user's own code on the cluster.",
  }),
  gpuSeconds: Type.Number({ description: 'GPU seconds from the first start to the end, or until now.' }),
  cpuSeconds: Type.Number({ description: 'CPU seconds from the first start to the end, or until now.' }),
  reference: nullable(Type.Record(Type.String(), Type.Number()), {
    description: 'Published figures for the same setting, by metric and in its unit; null if there are none.',
  }),
});
export type SweepCombination = Static<typeof SweepCombination>;

/** A page of combinations, in the order of their first child. */
export const SweepComparison = NamedObject('SweepComparison', {
  over: Type.Array(Type.String(), { description: 'Axes over which the values are aggregated.' }),
  metrics: Type.Array(Type.String()),
  items: Type.Array(SweepCombination),
  next: Cursor,
});
export type SweepComparison = Static<typeof SweepComparison>;

/** A metric over the steps of each combination, as bands over its seeds. */
export const SweepSeries = NamedObject('SweepSeries', {
  over: Type.Array(Type.String(), { description: 'Axes over which the values are aggregated.' }),
  metric: Type.String(),
  items: Type.Array(
    StrictObject({
      values: Values,
      children: CountOf('Number of children of this combination.'),
      curves: CountOf('Number of children whose values are in the band.'),
      points: Type.Array(
        StrictObject({
          from: CountOf('First step of the point.'),
          to: CountOf('Last step of the point.'),
          ...spread('children'),
        }),
        { description: 'In the order of steps. Steps without a finite value have no point.' },
      ),
    }),
    { description: 'In the order of the first child of each combination.' },
  ),
  next: Cursor,
});
export type SweepSeries = Static<typeof SweepSeries>;
