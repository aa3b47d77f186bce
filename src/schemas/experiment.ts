import { type Static, Type } from 'typebox';
import { STATES } from '../core/states.ts';
import { RuleStatus, StoppedBy } from './rules.ts';
import { SomeObject } from './spec-parts.ts';
import { strict } from './strict.ts';

const Count = Type.Integer({ minimum: 0 });

/** Counters of the verification of one experiment, over all attempts. */
export const VerificationCounts = Type.Object(
  {
    status: Type.Union([Type.Literal('pending'), Type.Literal('complete')], {
      description: 'pending while a recorded batch has no report, or more may come',
    }),
    batches: Count,
    batchesVerified: Count,
    rowsSeen: Type.Integer({
      minimum: 0,
      description: 'Rows of all batches, those dropped at their source included',
    }),
    rowsVerified: Type.Integer({ minimum: 0, description: 'exact + rounding + wrong' }),
    exact: Count,
    rounding: Count,
    wrong: Count,
    unverifiable: Count,
    errors: Type.Integer({ minimum: 0, description: 'Error findings' }),
    dropped: Type.Integer({ minimum: 0, description: 'Rows dropped at their source' }),
  },
  strict,
);
/** See {@link VerificationCounts}. */
export type VerificationCounts = Static<typeof VerificationCounts>;

/** Where a running attempt stands. */
export const Progress = Type.Object(
  {
    stage: Type.String(),
    step: Count,
    steps: Count,
    metrics: Type.Record(Type.String(), Type.Union([Type.Number(), Type.String()]), {
      description: 'The last value of every metric',
    }),
  },
  strict,
);
/** See {@link Progress}. */
export type Progress = Static<typeof Progress>;

/** Layout version of stored records; a reader migrates older ones. */
export const RECORD_VERSION = 1;

/** The one record of an experiment: what the API answers, and what decides. Times are ms since 1970. */
export const Experiment = Type.Object(
  {
    version: Type.Literal(RECORD_VERSION),
    id: Type.String(),
    name: Type.String(),
    project: Type.String(),
    state: Type.Enum([...STATES], { type: 'string' }),
    reason: Type.String({ description: 'Why it is in this state, in words' }),
    attempt: Type.Integer({ minimum: 0, description: 'Number of the current attempt; 0 before the first' }),
    cluster: Type.Union([Type.String(), Type.Null()], { description: 'Where it was placed last' }),
    priority: Type.Integer(),
    submittedAt: Type.Integer(),
    startedAt: Type.Union([Type.Integer(), Type.Null()]),
    endedAt: Type.Union([Type.Integer(), Type.Null()]),
    customCode: Type.Boolean({ description: "Its overrides load code that is not the recipe's" }),
    submitted: SomeObject('The spec as submitted'),
    resolved: SomeObject('The spec with its defaults'),
    defaults: Type.Array(Type.String(), {
      description: 'JSON pointers of the values that were not submitted',
    }),
    fingerprint: Type.Union([Type.String(), Type.Null()], {
      description: 'Everything of the estimator that changes the number',
    }),
    progress: Progress,
    verification: VerificationCounts,
    rerunOf: Type.Union([Type.String(), Type.Null()], { description: 'The experiment that it runs again' }),
    rules: Type.Array(RuleStatus, { description: 'Its rules, and when they fired' }),
    marks: Type.Integer({ minimum: 0, description: 'Times that a rule fired' }),
    stoppedBy: Type.Union([StoppedBy, Type.Null()], {
      description: 'The rule that ended it; null: it ended otherwise, or has not',
    }),
    quarantined: Type.Boolean({
      description:
        'Launching it or taking it over ended parts of the service repeatedly. It gets no further attempt; the reason of its end has the evidence',
    }),
    sweep: Type.Union([Type.String(), Type.Null()], { description: 'Id of the sweep that it belongs to' }),
    sweepIndex: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
      description: 'Its place among the children of the sweep, from 0',
    }),
    expired: Type.Object(
      {
        batchesAt: Type.Union([Type.Integer(), Type.Null()]),
        streamAt: Type.Union([Type.Integer(), Type.Null()]),
      },
      {
        ...strict,
        description: 'When retention deleted the bytes of its batches, and its events, logs and reports',
      },
    ),
    checkpoint: Type.Union([
      Type.Object({ step: Count, path: Type.String(), attempt: Count }, strict),
      Type.Null(),
    ]),
  },
  { ...strict, $id: 'Experiment' },
);
/** See {@link Experiment}. */
export type Experiment = Static<typeof Experiment>;
