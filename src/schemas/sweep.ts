import { type Static, Type } from 'typebox';
import { STATES } from '../core/states.ts';
import { MAX_CHILDREN } from '../core/sweep-ids.ts';
import { VerificationCounts } from './experiment.ts';
import { Label } from './spec-parts.ts';
import { strict } from './strict.ts';

const Count = Type.Integer({ minimum: 0 });
const Cursor = Type.Union([Type.String(), Type.Null()], {
  description: 'Pass it on as `cursor`; null: there is no more',
});

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
      Type.Union([Type.Literal('linear'), Type.Literal('log')], {
        description: 'log: the logarithm is drawn evenly; linear where it is left out',
      }),
    ),
    integer: Type.Optional(Type.Boolean({ description: 'Whole numbers only' })),
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
    goal: Type.Union([Type.Literal('max'), Type.Literal('min')]),
    afterSteps: Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: 'Step of the first look' }),
    everySteps: Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: 'Between two looks' }),
    minChildren: Type.Integer({
      minimum: 1,
      maximum: MAX_CHILDREN,
      description: 'Other children that must have come as far',
    }),
  },
  {
    ...strict,
    description:
      "A child is stopped where its best value so far is worse than the median of the other children's running averages at the same step",
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
        'grid: every combination, the last axis changing fastest; list: the n-th value of every axis together; random: `count` draws',
    }),
    spec: Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          'An experiment spec, less what the axes fill in; its name is made from the values where it is left out',
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
          'By place in the spec, as JSON pointer (/training/seed) or with dots (training.seed): the values, or for random a range {min, max}',
      },
    ),
    count: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_CHILDREN, description: 'random: how many are drawn' }),
    ),
    seed: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2147483647,
        description: 'random: the same seed draws the same values; 1 where it is left out',
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
    pointer: Type.String({ description: 'JSON pointer into the spec' }),
    values: Type.Optional(Type.Array(Type.Unknown())),
    range: Type.Optional(Type.Unsafe<SweepRange>(SweepRange)),
  },
  strict,
);
/** See {@link SweepAxis}. */
export type SweepAxis = Static<typeof SweepAxis>;

const Values = Type.Record(Type.String(), Type.Unknown(), {
  description: "The child's values, by JSON pointer into the spec",
});

/** A sweep's record, with its children counted by state. Times are ms since 1970. */
export const Sweep = Type.Object(
  {
    version: Type.Literal(SWEEP_VERSION),
    id: Type.String(),
    name: Type.String(),
    project: Type.String(),
    method: Type.Enum([...RECORDED_METHODS], { type: 'string' }),
    seed: Type.Union([Type.Integer(), Type.Null()], { description: 'random only' }),
    state: Type.Enum([...SWEEP_STATES], {
      type: 'string',
      description:
        'running while a child may still end; cancelled at once, `endedAt` when the last child has ended',
    }),
    reason: Type.String(),
    count: Type.Integer({ minimum: 1, description: 'Children' }),
    expanded: Type.Integer({ minimum: 0, description: 'Children that are experiments already' }),
    counts: Type.Object(
      Object.fromEntries(STATES.map((state) => [state, Count])) as Record<
        (typeof STATES)[number],
        typeof Count
      >,
      { ...strict, description: 'Expanded children by state; of one that was re-run, the last run counts' },
    ),
    earlyStopping: Type.Union([Type.Unsafe<EarlyStopping>(EarlyStopping), Type.Null()]),
    skipped: Type.Integer({
      minimum: 0,
      description: 'Children that never run, since the one that they wait for did not succeed',
    }),
    stoppedEarly: Type.Integer({ minimum: 0, description: 'Children that early stopping ended' }),
    createdAt: Type.Integer(),
    endedAt: Type.Union([Type.Integer(), Type.Null()]),
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
    self: Type.String({ description: 'Path of the sweep' }),
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
      description: 'The spec that all children share; of a preset, `children` with a spec each',
    }),
    axes: Type.Array(SweepAxis),
    children: Type.Array(
      Type.Object(
        {
          index: Count,
          experiment: Type.String({ description: 'Id of the experiment, also before it is expanded' }),
          run: Type.Integer({ minimum: 0, description: '0, and one more for each re-run' }),
          after: Type.Union([Type.Integer(), Type.Null()], {
            description: 'Index of the child that must succeed before this one runs',
          }),
          skipped: Type.Union([Type.String(), Type.Null()], { description: 'Why it never runs' }),
          state: Type.Union([Type.Enum([...STATES], { type: 'string' }), Type.Null()], {
            description: 'null: not yet expanded, or deleted',
          }),
          verification: Type.Union([VerificationCounts, Type.Null()], {
            description: 'What was found of its batches; null: not yet expanded, or deleted',
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

const Nullable = Type.Union([Type.Number(), Type.Null()]);

/** One combination of values, aggregated over its seeds. */
export const SweepCombination = Type.Object(
  {
    values: Values,
    children: Type.Integer({ minimum: 0, description: 'Of this combination' }),
    succeeded: Count,
    failed: Count,
    metrics: Type.Record(
      Type.String(),
      Type.Object(
        {
          mean: Nullable,
          std: Type.Union([Type.Number(), Type.Null()], {
            description: 'Sample standard deviation (n - 1); null below two values',
          }),
          n: Type.Integer({ minimum: 0, description: 'Succeeded children with a finite value' }),
          min: Nullable,
          max: Nullable,
          interval: Type.Union(
            [Type.Object({ low: Type.Number(), high: Type.Number() }, strict), Type.Null()],
            {
              description:
                "95 % confidence interval of the mean by Student's t, that of a success rate cut at 0 and 1; null below two values",
            },
          ),
        },
        strict,
      ),
      { description: 'Last values of succeeded children' },
    ),
    rows: Type.Object(
      { exact: Count, rounding: Count, wrong: Count, unverifiable: Count },
      { ...strict, description: 'Verified rows of all children' },
    ),
    customCode: Type.Boolean({ description: "Its overrides load code that is not the recipe's" }),
    gpuSeconds: Type.Number({ description: 'GPUs times the time from first start to end (or now)' }),
    cpuSeconds: Type.Number({ description: 'CPUs times the same' }),
    reference: Type.Union([Type.Record(Type.String(), Type.Number()), Type.Null()], {
      description: 'Published figures of the same setting, by metric and in its unit; null: none are known',
    }),
  },
  strict,
);
/** See {@link SweepCombination}. */
export type SweepCombination = Static<typeof SweepCombination>;

/** A page of combinations, in the order of their first child. */
export const SweepComparison = Type.Object(
  {
    over: Type.Array(Type.String(), { description: 'Axes that were aggregated over' }),
    metrics: Type.Array(Type.String()),
    items: Type.Array(SweepCombination),
    next: Cursor,
  },
  { ...strict, $id: 'SweepComparison' },
);
/** See {@link SweepComparison}. */
export type SweepComparison = Static<typeof SweepComparison>;
