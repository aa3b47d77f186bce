import { type Static, Type } from 'typebox';
import { STATES } from '../core/states.ts';
import { MAX_CHILDREN } from '../core/sweep-ids.ts';
import { Count, Cursor, nullable, oneOf, outcomes } from './answer-parts.ts';
import { VerificationCounts } from './experiment.ts';
import { Label } from './spec-parts.ts';
import { strict } from './strict.ts';

/** Layout version of stored sweeps. */
export const SWEEP_VERSION = 1;

/** How the children of a sweep come from its axes. */
const SWEEP_METHODS = ['grid', 'list', 'random'] as const;
/** How the children of a stored sweep came about: of a preset, each has a spec of its own. */
const RECORDED_METHODS = [...SWEEP_METHODS, 'preset'] as const;
/** Every state of a sweep; `cancelled` is set at once, its children end a little later. */
const SWEEP_STATES = ['running', 'done', 'cancelled'] as const;

/** Numbers that a random sweep draws from. */
export const SweepRange = Type.Object(
  {
    min: Type.Number(),
    max: Type.Number(),
    scale: Type.Optional(
      oneOf(['linear', 'log'], {
        description: 'Scale of the draws. `log` draws the logarithm uniformly. Default: linear.',
      }),
    ),
    integer: Type.Optional(
      Type.Boolean({ description: 'Whether only whole numbers are drawn. Default: false.' }),
    ),
  },
  strict,
);
/** See {@link SweepRange}. */
export type SweepRange = Static<typeof SweepRange>;

/** When a child is stopped because the others do better: the median rule. */
export const EarlyStopping = Type.Object(
  {
    metric: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Name of the metric as the trainer logs it',
    }),
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
  {
    ...strict,
    description:
      "Stops a child whose best value so far is worse than the median of the other children's running averages at the same step.",
  },
);
/** See {@link EarlyStopping}. */
export type EarlyStopping = Static<typeof EarlyStopping>;

/** What a person submits to run one spec many times with other values. */
export const SweepRequest = Type.Object(
  {
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
    count: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_CHILDREN, description: 'random: number of draws.' }),
    ),
    seed: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2147483647,
        description: 'random: seed of the draws. Default: 1.',
      }),
    ),
    earlyStopping: Type.Optional(Type.Unsafe<EarlyStopping>(EarlyStopping)),
  },
  { ...strict, $id: 'SweepRequest' },
);
/** See {@link SweepRequest}. */
export type SweepRequest = Static<typeof SweepRequest>;

/** One axis of a sweep, its place written as JSON pointer. */
export const SweepAxis = Type.Object(
  {
    pointer: Type.String({ description: 'JSON pointer into the spec.' }),
    values: Type.Optional(Type.Array(Type.Unknown())),
    range: Type.Optional(Type.Unsafe<SweepRange>(SweepRange)),
  },
  strict,
);
/** See {@link SweepAxis}. */
export type SweepAxis = Static<typeof SweepAxis>;

const Values = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Values of the child, by JSON pointer into the spec.',
});

/** A sweep's record, with its children counted by state. Times are ms since 1970. */
export const Sweep = Type.Object(
  {
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
    expanded: Type.Integer({ minimum: 0, description: 'Number of children that exist as experiments.' }),
    counts: Type.Object(
      Object.fromEntries(STATES.map((state) => [state, Count])) as Record<
        (typeof STATES)[number],
        typeof Count
      >,
      {
        ...strict,
        description: 'Existing children by state. Of a child that was run again, the latest run counts.',
      },
    ),
    earlyStopping: nullable(Type.Unsafe<EarlyStopping>(EarlyStopping)),
    skipped: Type.Integer({
      minimum: 0,
      description: 'Number of children that never run because the child that they depend on did not succeed.',
    }),
    stoppedEarly: Type.Integer({ minimum: 0, description: 'Number of children that early stopping ended.' }),
    createdAt: Type.Integer(),
    endedAt: nullable(Type.Integer()),
  },
  { ...strict, $id: 'Sweep' },
);
/** See {@link Sweep}. */
export type Sweep = Static<typeof Sweep>;

/** A page of sweeps, newest first. */
export const SweepPage = Type.Object(
  { items: Type.Array(Type.Unsafe<Sweep>({ $ref: 'Sweep#' })), next: Cursor },
  { ...strict, $id: 'SweepPage' },
);
/** See {@link SweepPage}. */
export type SweepPage = Static<typeof SweepPage>;

const Warnings = Type.Array(Type.String(), {
  description:
    'Children for which no node of any cluster is large enough now: they stay queued until one joins',
});

/** The answer to an accepted sweep; equal for every repetition of the request with its Idempotency-Key, but for `warnings`. */
export const SweepAccepted = Type.Object(
  {
    id: Type.String(),
    self: Type.String({ description: 'Path of the sweep.' }),
    count: Count,
    warnings: Warnings,
  },
  { ...strict, $id: 'SweepAccepted' },
);
/** See {@link SweepAccepted}. */
export type SweepAccepted = Static<typeof SweepAccepted>;

/** A dry run: how many children there would be, and the first of them. */
export const SweepPreview = Type.Object(
  {
    count: Count,
    axes: Type.Array(SweepAxis),
    warnings: Warnings,
    children: Type.Array(
      Type.Object({ index: Count, name: Type.String(), values: Values, spec: Type.Unknown() }, strict),
    ),
  },
  { ...strict, $id: 'SweepPreview' },
);
/** See {@link SweepPreview}. */
export type SweepPreview = Static<typeof SweepPreview>;

/** A sweep with its spec, its axes and a page of its children. */
export const SweepDetail = Type.Object(
  {
    ...Sweep.properties,
    spec: Type.Unknown({
      description: 'Spec that all children share. For a preset: `children`, with one spec each.',
    }),
    axes: Type.Array(SweepAxis),
    children: Type.Array(
      Type.Object(
        {
          index: Count,
          experiment: Type.String({
            description: 'Id of the experiment, also before the experiment exists.',
          }),
          run: Type.Integer({ minimum: 0, description: 'Number of re-runs of the child.' }),
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
        },
        strict,
      ),
    ),
    next: Cursor,
  },
  { ...strict, $id: 'SweepDetail' },
);
/** See {@link SweepDetail}. */
export type SweepDetail = Static<typeof SweepDetail>;

/** How many children were run again. */
export const SweepRerun = Type.Object(
  { rerun: Count, sweep: Type.Unsafe<Sweep>({ $ref: 'Sweep#' }) },
  { ...strict, $id: 'SweepRerun' },
);
/** See {@link SweepRerun}. */
export type SweepRerun = Static<typeof SweepRerun>;

const Nullable = nullable(Type.Number());

const spread = (children: string) => ({
  mean: Nullable,
  std: nullable(Type.Number(), {
    description: 'Sample standard deviation (n - 1); null for fewer than two values.',
  }),
  n: Type.Integer({ minimum: 0, description: `Number of ${children} with a finite value.` }),
  min: Nullable,
  max: Nullable,
  interval: nullable(Type.Object({ low: Type.Number(), high: Type.Number() }, strict), {
    description:
      "95 % confidence interval of the mean by Student's t, limited to 0 and 1 for a success rate; null for fewer than two values.",
  }),
});

/** One combination of values, aggregated over its seeds. */
export const SweepCombination = Type.Object(
  {
    values: Values,
    children: Type.Integer({ minimum: 0, description: 'Number of children of this combination.' }),
    succeeded: Count,
    failed: Count,
    metrics: Type.Record(Type.String(), Type.Object(spread('succeeded children'), strict), {
      description: 'Statistics of the last values of succeeded children, by metric.',
    }),
    rows: Type.Object(
      { ...outcomes },
      { ...strict, description: 'Verified rows of all children of the combination.' },
    ),
    customCode: Type.Boolean({
      description: "Whether the spec loads the user's own code on the cluster.",
    }),
    gpuSeconds: Type.Number({ description: 'GPU seconds from the first start to the end, or until now.' }),
    cpuSeconds: Type.Number({ description: 'CPU seconds from the first start to the end, or until now.' }),
    reference: nullable(Type.Record(Type.String(), Type.Number()), {
      description:
        'Published figures for the same setting, by metric and in its unit; null if there are none.',
    }),
  },
  strict,
);
/** See {@link SweepCombination}. */
export type SweepCombination = Static<typeof SweepCombination>;

/** A page of combinations, in the order of their first child. */
export const SweepComparison = Type.Object(
  {
    over: Type.Array(Type.String(), { description: 'Axes over which the values are aggregated.' }),
    metrics: Type.Array(Type.String()),
    items: Type.Array(SweepCombination),
    next: Cursor,
  },
  { ...strict, $id: 'SweepComparison' },
);
/** See {@link SweepComparison}. */
export type SweepComparison = Static<typeof SweepComparison>;

/** A metric over the steps of each combination, as bands over its seeds. */
export const SweepSeries = Type.Object(
  {
    over: Type.Array(Type.String(), { description: 'Axes over which the values are aggregated.' }),
    metric: Type.String(),
    items: Type.Array(
      Type.Object(
        {
          values: Values,
          children: Type.Integer({ minimum: 0, description: 'Number of children of this combination.' }),
          curves: Type.Integer({
            minimum: 0,
            description: 'Number of children whose values are in the band.',
          }),
          points: Type.Array(
            Type.Object(
              {
                from: Type.Integer({ minimum: 0, description: 'First step of the point.' }),
                to: Type.Integer({ minimum: 0, description: 'Last step of the point.' }),
                ...spread('children'),
              },
              strict,
            ),
            { description: 'In the order of steps. Steps without a finite value have no point.' },
          ),
        },
        strict,
      ),
      { description: 'In the order of the first child of each combination.' },
    ),
    next: Cursor,
  },
  { ...strict, $id: 'SweepSeries' },
);
/** See {@link SweepSeries}. */
export type SweepSeries = Static<typeof SweepSeries>;
