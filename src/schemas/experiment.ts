import { type Static, Type } from 'typebox';
import { STATES } from '../core/states.ts';
import { Count, CountOf, nullable, oneOf, outcomes, PriorityClassOf, Text } from './answer-parts.ts';
import { DescribedObject, NamedObject, StrictObject } from './objects.ts';
import { RuleStatus, StoppedBy } from './rules.ts';
import { SomeObject, tagsAs } from './spec-parts.ts';

/** Whether what was trained on was right; packages/echelon-verify/src/report/training-signal.ts defines it. */
export const TrainingSignal = nullable(oneOf(['right', 'wrong', 'unverified']), {
  description:
    'Training signal of all reports so far. `wrong`: a row is wrong, or a batch contradicts itself or its parameters. `unverified`: else, some rows are unverifiable. `right`: every row is exact or rounding. null: no row has a report.',
});

/** Counters of the verification of one experiment, over all attempts. */
export const VerificationCounts = StrictObject({
  status: oneOf(['pending', 'complete'], {
    description: '`pending` while a recorded batch has no report or more batches may follow.',
  }),
  batches: Count,
  batchesVerified: Count,
  rowsSeen: CountOf('Rows of all batches, including rows that were dropped at their source.'),
  rowsVerified: CountOf('Sum of exact, rounding and wrong rows.'),
  signal: TrainingSignal,
  ...outcomes,
  errors: CountOf('Number of error findings.'),
  dropped: CountOf('Number of rows that were dropped at their source.'),
});
export type VerificationCounts = Static<typeof VerificationCounts>;

/** Where a running attempt stands. */
const Progress = StrictObject({
  stage: Type.String(),
  step: Count,
  steps: Count,
  metrics: Type.Record(Type.String(), Type.Union([Type.Number(), Type.String()]), {
    description: 'Latest value of each metric.',
  }),
});
/** What users may write on an experiment at any time. */
export const Notes = {
  note: Type.String({ maxLength: 2000, description: 'Note of the users; empty if there is none.' }),
  tags: tagsAs('Tags of the users.'),
};

/** Layout version of stored records; a reader migrates older ones. */
export const RECORD_VERSION = 1;

/** The one record of an experiment: what the API answers, and what decides. Times are ms since 1970. */
export const Experiment = NamedObject('Experiment', {
  version: Type.Literal(RECORD_VERSION),
  id: Type.String(),
  name: Type.String(),
  project: Type.String(),
  owner: nullable(Text('Name of the API key or the person that submitted it; null if not recorded.')),
  ...Notes,
  state: Type.Enum([...STATES], { type: 'string' }),
  reason: Text('Reason for the current state, in one sentence.'),
  attempt: CountOf('Number of the current attempt; 0 before the first.'),
  cluster: nullable(Type.String(), { description: 'Cluster of the latest attempt.' }),
  priority: Type.Integer(),
  priorityClass: PriorityClassOf,
  gpus: Type.Number({ description: 'GPUs of all its nodes together.' }),
  submittedAt: Type.Integer(),
  startedAt: nullable(Type.Integer()),
  endedAt: nullable(Type.Integer()),
  customCode: Type.Boolean({
    description: "Whether the spec loads the user's own code on the cluster.",
  }),
  submitted: SomeObject('The spec as it was submitted.'),
  resolved: SomeObject('The spec with all defaults filled in.'),
  defaults: Type.Array(Type.String(), {
    description: 'JSON pointers of the values that come from defaults.',
  }),
  fingerprint: nullable(Type.String(), {
    description: 'Fingerprint of the estimator: every parameter that affects advantages.',
  }),
  progress: Progress,
  verification: VerificationCounts,
  rerunOf: nullable(Type.String(), {
    description: 'Id of the experiment that this one runs again.',
  }),
  rules: Type.Array(RuleStatus, { description: 'Rules of the experiment and their firings.' }),
  marks: CountOf('Number of times that a rule fired.'),
  stoppedBy: nullable(StoppedBy, {
    description: 'Rule that ended the experiment; null if no rule did.',
  }),
  quarantined: Type.Boolean({
    description:
      'Whether launching or taking over the experiment repeatedly ended a dispatcher. A quarantined experiment gets no further attempt, and its reason states the evidence.',
  }),
  sweep: nullable(Type.String(), {
    description: 'Id of the sweep of the experiment; null if it has none.',
  }),
  sweepIndex: nullable(Type.Integer({ minimum: 0 }), {
    description: 'Index among the children of the sweep, from 0.',
  }),
  expired: DescribedObject('When retention deleted the batches and the events, logs and reports.', {
    batchesAt: nullable(Type.Integer()),
    streamAt: nullable(Type.Integer()),
  }),
  checkpoint: nullable(StrictObject({ step: Count, path: Type.String(), attempt: Count })),
});
export type Experiment = Static<typeof Experiment>;
