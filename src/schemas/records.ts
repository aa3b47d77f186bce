import { type Static, Type } from 'typebox';
import { Count, CountOf, Cursor, nullable, oneOf, outcomes, Text } from './answer-parts.ts';
import { evaluationFields } from './events.ts';
import { DescribedObject, NamedObject, StrictObject } from './objects.ts';
import { SomeObject } from './spec-parts.ts';

/** Something that an attempt left on the cluster. */
export const Artifact = NamedObject('Artifact', {
  kind: Type.Literal('checkpoint'),
  step: CountOf('Step of the trainer.'),
  path: Text('Path on the cluster.'),
  attempt: Count,
  at: Type.Integer({ description: 'Time of registration in ms since 1970.' }),
});
export type Artifact = Static<typeof Artifact>;

/** A page of artifacts, in the order of their registration. */
export const ArtifactPage = NamedObject('ArtifactPage', {
  items: Type.Array(Type.Unsafe<Artifact>({ $ref: 'Artifact#' })),
  next: Cursor,
});
export type ArtifactPage = Static<typeof ArtifactPage>;

/** Evaluations with their games, oldest first. */
export const GamePage = NamedObject('GamePage', {
  items: Type.Array(
    StrictObject({
      attempt: Count,
      at: Type.Integer({ description: 'Time of the evaluation in ms since 1970.' }),
      ...evaluationFields,
    }),
  ),
  next: Cursor,
});
export type GamePage = Static<typeof GamePage>;

const batchFields = {
  attempt: Count,
  batch: Type.Integer({ minimum: 1, description: 'Number of the batch within the attempt, from 1.' }),
  step: CountOf('Step of the trainer.'),
  rows: Count,
  digest: Text('SHA-256 of the serialized batch, as hex.'),
};

/** A recorded batch of advantages or optimizer step, and what was found of it in short. */
export const BatchView = NamedObject('Batch', {
  ...batchFields,
  verification: nullable(
    DescribedObject('Summary of the report; null until the batch is verified.', {
      kind: Type.Enum(['advantage', 'step'], {
        type: 'string',
        description: 'Whether the batch holds advantages or an optimizer step.',
      }),
      ok: Type.Boolean(),
      ...outcomes,
      findings: Type.Array(Type.String(), { description: 'Codes of the findings.' }),
      errors: Type.Array(Type.String(), {
        description:
          'Codes of the error findings. Every one but `not-verifiable` makes the training signal wrong.',
      }),
      stages: Type.Optional(
        Type.Record(Type.String(), oneOf(Object.keys(outcomes) as (keyof typeof outcomes)[]), {
          description: 'Worst outcome of each stage of an optimizer step. Absent for advantages.',
        }),
      ),
    }),
  ),
});
export type BatchView = Static<typeof BatchView>;

/** A page of batches, by attempt and number. */
export const BatchPage = NamedObject('BatchPage', {
  items: Type.Array(Type.Unsafe<BatchView>({ $ref: 'Batch#' })),
  next: Cursor,
});
export type BatchPage = Static<typeof BatchPage>;

/** What each batch offers to learn from, by attempt and number. */
export const SignalPage = NamedObject('SignalPage', {
  items: Type.Array(
    StrictObject({
      attempt: Count,
      batch: batchFields.batch,
      step: batchFields.step,
      values: Type.Record(Type.String(), Type.Number(), {
        description: 'Figures by name; those that the batch does not have are absent.',
      }),
    }),
  ),
  next: Cursor,
});
export type SignalPage = Static<typeof SignalPage>;

/** What the verifier says of one batch. */
export const BatchReportView = Type.Object(
  {
    name: Type.String(),
    rows: Count,
    ...outcomes,
    findings: Type.Array(
      Type.Object(
        {
          code: Type.String(),
          severity: Type.Enum(['error', 'warning'], { type: 'string' }),
          message: Type.String(),
          rows: Type.Array(Count, { description: 'First rows to which the finding applies.' }),
        },
        { additionalProperties: true },
      ),
    ),
    ok: Type.Boolean(),
    fingerprint: Text('Fingerprint of the estimator: every parameter that affects advantages.'),
  },
  {
    additionalProperties: true,
    $id: 'BatchReport',
    description:
      'Report of a batch. Additional fields describe single rows; docs/explanation/verification.md explains them. Of an optimizer step, `step` has the report of its stages.',
  },
);

/** What the verifier says of one optimizer step. */
export const StepReportView = Type.Object(
  {
    name: Type.String(),
    rows: Count,
    tokens: Count,
    trained: CountOf('Tokens that contribute to the loss.'),
    arithmetic: Text('The stated arithmetic, in one line.'),
    stages: Type.Array(
      Type.Object(
        {
          stage: Type.String(),
          of: Type.Enum(['tokens', 'rows', 'micro-batches', 'denominators', 'values'], { type: 'string' }),
          ...outcomes,
        },
        { additionalProperties: true },
      ),
      { description: 'Outcomes of each stage, in the order in which a token passes them.' },
    ),
    findings: BatchReportView.properties.findings,
    ok: Type.Boolean({
      description: 'Nothing is wrong, and the gradient coefficient of every trained token was verified.',
    }),
    consistent: Type.Boolean({ description: 'Nothing is wrong, whether or not anything was verified.' }),
  },
  {
    additionalProperties: true,
    $id: 'StepReport',
    description: 'Report of an optimizer step; docs/explanation/verify-the-step.md explains it.',
  },
);

/** One batch with its report. */
export const BatchDetail = NamedObject('BatchDetail', {
  ...batchFields,
  report: nullable(Type.Unsafe<unknown>({ $ref: 'BatchReport#' })),
});
export type BatchDetail = Static<typeof BatchDetail>;

const difference = {
  key: Text('Key of the merged configuration.'),
  from: nullable(Text("Value in the recipe's script; null if not passed.")),
  to: nullable(Text('Value in the plan; null if not passed.')),
};
/** A difference from the recipe's script that the spec asks for. */
export const PlanChange = NamedObject('PlanChange', difference);

/** A difference from the recipe's script that no spec asks for, and why it is made. */
export const PlanCorrection = NamedObject('PlanCorrection', { ...difference, reason: Type.String() });

/** What would fail, hang, be ignored or teach nothing, said from the spec alone. */
export const PlanCheck = NamedObject('PlanCheck', {
  check: Text('Stable name of the check.'),
  severity: Type.Enum(['error', 'warning', 'note'], { type: 'string' }),
  field: Text('JSON pointer into the spec.'),
  message: Type.String(),
  remedy: Type.String(),
});

/** A dry run: what a spec means, and what would be run. */
export const PlanPreview = NamedObject('PlanPreview', {
  resolved: SomeObject('The spec with all defaults filled in.'),
  defaults: Type.Array(Type.String(), {
    description: 'JSON pointers of the values that come from defaults.',
  }),
  fingerprint: nullable(Text('Fingerprint of the estimator: every parameter that affects advantages.')),
  plan: StrictObject({
    engine: Type.String(),
    module: Type.String(),
    arguments: Type.Array(Type.String()),
    environment: Type.Record(Type.String(), Type.String()),
    gpus: Type.Number(),
    cpus: Type.Number(),
    gracePeriodMs: Count,
    files: Type.Record(Type.String(), Type.String()),
    secrets: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description:
          'Environment variables whose values come from secrets on the cluster, with the names of the secrets.',
      }),
    ),
  }),
  commandLine: Text('The exact command, quoted for a POSIX shell.'),
  changes: Type.Array(Type.Unsafe<unknown>({ $ref: 'PlanChange#' }), {
    description:
      "Differences from the recipe's script that the spec asks for; empty for engines without recipes",
  }),
  corrections: Type.Array(Type.Unsafe<unknown>({ $ref: 'PlanCorrection#' }), {
    description:
      "Differences from the recipe's script that fix it, with reasons; empty for engines without recipes",
  }),
  checks: Type.Array(Type.Unsafe<unknown>({ $ref: 'PlanCheck#' }), {
    description: 'Findings about the spec, errors first',
  }),
});
