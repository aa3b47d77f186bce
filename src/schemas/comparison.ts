import { type Static, Type } from 'typebox';
import type { PlayedGame as Game } from '../core/events.ts';
import type { State } from '../core/states.ts';
import { Count, CountOf, Cursor, nullable, Text } from './answer-parts.ts';
import { PlayedGame } from './events.ts';
import { TrainingSignal } from './experiment.ts';
import { DescribedObject, NamedObject, StrictObject } from './objects.ts';
import { number, text } from './optional-fields.ts';
import { Label } from './spec-parts.ts';

const points = (description: string) => Type.Number({ exclusiveMinimum: 0, maximum: 100, description });
const Place = Type.String({ minLength: 1, maxLength: 200 });

/** What is fixed before the first run of a comparison. */
export const ComparisonPlan = NamedObject('ComparisonPlan', {
  name: Label,
  spec: Type.Object(
    {},
    { additionalProperties: true, description: 'Experiment spec that all methods share, without a name.' },
  ),
  methods: Type.Array(
    StrictObject({
      name: Type.String({ pattern: '^[^\\u0000-\\u001f\\u007f]{1,60}$' }),
      set: Type.Record(Type.String(), Type.Unknown(), {
        minProperties: 1,
        maxProperties: 12,
        description:
          'Values of the method by field of the spec, such as `estimator`. All methods set the same fields.',
      }),
    }),
    { minItems: 2, maxItems: 8, description: 'The methods, each compared with the baseline.' },
  ),
  baseline: Type.String({
    maxLength: 100,
    description: 'Name of the method with which the others are compared.',
  }),
  seeds: Type.Array(Type.Integer({ minimum: 0, maximum: 2147483647 }), {
    minItems: 2,
    maxItems: 100,
    uniqueItems: true,
    description: 'Training seeds. Each method is trained with each of them.',
  }),
  seedField: Type.Optional({ ...Place, description: 'Field of the training seed. Default: training.seed.' }),
  declared: Type.Optional(
    Type.Array(Place, {
      maxItems: 12,
      description: 'Fields other than those of the estimator in which the methods may differ. Default: none.',
    }),
  ),
  panel: Type.String({ minLength: 1, maxLength: 256, description: 'Name of the fixed panel of games.' }),
  digest: Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]{64}$',
      description:
        'SHA-256 of the panel. Default: that of the first evaluation; all others must have the same.',
    }),
  ),
  step: Type.Integer({ minimum: 0, maximum: 1e9, description: 'Step of the checkpoints that are compared.' }),
  replicates: Type.Integer({ minimum: 1, maximum: 100, description: 'Times that each game is played.' }),
  margin: points('Smallest difference of interest, in points of success.'),
  deviation: points("Assumed deviation of the seeds' differences, in points of success."),
  looks: Type.Optional(
    Type.Array(Type.Integer({ minimum: 2, maximum: 100 }), {
      minItems: 1,
      maxItems: 3,
      description:
        'Numbers of seeds at which the result may be read, ascending, the last one all seeds. Default: all seeds only.',
    }),
  ),
  hoursPerRun: number(0, 1e5, 'Expected hours of a run, for the GPU hours of the plan. Default: unknown.'),
  project: text(1, 63, "Project of the runs. Default: the caller's own."),
});
export type ComparisonPlan = Static<typeof ComparisonPlan>;

/** What a plan says before its first run. */
const figures = {
  runs: CountOf('Number of trainings.'),
  level: Type.Number({
    description:
      'Coverage of each interval: 0.95, higher if several methods or looks share the error of 5 %.',
  }),
  seedsNeeded: nullable(Type.Integer(), {
    description: 'Paired seeds that show the margin with a power of 80 %; null: more than 1,000.',
  }),
  detectable: Type.Number({ description: 'Smallest difference that the planned seeds show, in points.' }),
  gpuHours: nullable(Type.Number(), {
    description: 'Expected GPU hours; null if `hoursPerRun` is not stated.',
  }),
};

/** The answer to a planned comparison; nothing is stored. */
export const ComparisonFigures = NamedObject('ComparisonFigures', {
  ...figures,
  warnings: Type.Array(Type.String()),
});
export type ComparisonFigures = Static<typeof ComparisonFigures>;

/** A training of a comparison. */
export const ComparisonRun = StrictObject({
  method: Type.String(),
  seed: Type.Integer(),
  experiment: Text('Id of the experiment.'),
  state: nullable(Type.String(), { description: 'State; null before the experiment exists.' }),
  success: nullable(Type.Number(), {
    description: 'Share of the games that were solved; null: not evaluated.',
  }),
  isCounted: Type.Boolean({
    description: 'Whether the run ended without the evaluation, so that each game counts with success 0.',
  }),
  rowsSeen: Count,
  rowsVerified: Count,
  wrong: Count,
  signal: TrainingSignal,
});
export type ComparisonRun = Static<typeof ComparisonRun>;

const Pair = Type.Array(Type.Number(), { minItems: 2, maxItems: 2 });

/** A method against the baseline. All figures are shares of 1. */
export const ComparisonResult = StrictObject({
  method: Type.String(),
  sentence: Text('The result in words.'),
  outcome: Type.String(),
  seeds: CountOf('Number of paired seeds.'),
  games: Count,
  difference: Type.Number(),
  level: Type.Number({ description: 'Coverage of the interval.' }),
  interval: Pair,
  p: Type.Number(),
  signFlipP: nullable(Type.Number()),
  deviation: Type.Number({ description: "Deviation of the seeds' differences." }),
  runDeviation: Pair,
  evaluationError: Pair,
  detectable: Type.Number(),
  differences: Type.Array(Type.Number(), {
    description: 'Difference of each seed, in the order of the seeds.',
  }),
});
export type ComparisonResult = Static<typeof ComparisonResult>;

/** A comparison in a list. */
export const Comparison = NamedObject('Comparison', {
  id: Text('Id of the comparison, which is that of the sweep of its runs.'),
  project: Type.String(),
  state: Type.String(),
  createdAt: Type.Integer({
    description: 'Time at which the plan was stored, before its first run; ms since 1970.',
  }),
  plan: Type.Unsafe<ComparisonPlan>({ $ref: 'ComparisonPlan#' }),
});
export type Comparison = Static<typeof Comparison>;

/** A page of comparisons, newest first. */
export const ComparisonPage = NamedObject('ComparisonPage', {
  items: Type.Array(Type.Unsafe<Comparison>({ $ref: 'Comparison#' })),
  next: Cursor,
});
export type ComparisonPage = Static<typeof ComparisonPage>;

/** A comparison with its runs and its result. */
export const ComparisonDetail = NamedObject('ComparisonDetail', {
  ...Comparison.properties,
  figures: StrictObject(figures),
  startedAt: nullable(Type.Integer(), { description: 'Start of the first run, in ms since 1970.' }),
  findings: Type.Array(Type.String(), {
    description: 'To be read before the result: wrong rows, rows without verification, failed runs.',
  }),
  refusals: Type.Array(Type.String(), {
    description: 'Why there is no paired table: sampled panels, other panels, undeclared differences.',
  }),
  look: DescribedObject('How many seeds are compared, and how many have both evaluations.', {
    seeds: CountOf('Seeds of the last planned look that is reached; 0: none yet.'),
    complete: CountOf('Number of seeds, in their order, that every method has ended.'),
  }),
  runs: Type.Array(ComparisonRun),
  results: Type.Array(ComparisonResult),
  differing: Type.Array(StrictObject({ game: Type.String(), success: Type.Array(Type.Number()) }), {
    description:
      'Games with the largest difference, with the success of each method in the order of the plan.',
  }),
});
export type ComparisonDetail = Static<typeof ComparisonDetail>;

/** Every result that a comparison is made from, run by run. */
export const ComparisonGames = NamedObject('ComparisonGames', {
  items: Type.Array(StrictObject({ ...ComparisonRun.properties, games: Type.Array(PlayedGame) })),
  next: Cursor,
});
export type ComparisonGames = Static<typeof ComparisonGames>;

/** A run of a comparison as it is recorded. */
export interface RecordedRun {
  readonly method: string;
  readonly seed: number;
  readonly experiment: string;
  readonly state: State | null;
  /** Start of its experiment, in ms since 1970. */
  readonly startedAt: number | null;
  /** The resolved spec; null before the experiment exists. */
  readonly resolved: unknown;
  /** The games of its evaluation at the planned step. */
  readonly panel: {
    readonly digest: string;
    readonly decoding: Readonly<Record<string, string>>;
    readonly games: readonly Game[];
  } | null;
  readonly rowsSeen: number;
  readonly rowsVerified: number;
  readonly wrong: number;
  readonly signal: Static<typeof TrainingSignal>;
}
