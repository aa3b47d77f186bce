import { type Static, Type } from 'typebox';
import { Count, Cursor, nullable, outcomes } from './answer-parts.ts';
import { SomeObject } from './spec-parts.ts';
import { strict } from './strict.ts';

/** Something that an attempt left on the cluster. */
export const Artifact = Type.Object(
  {
    kind: Type.Literal('checkpoint'),
    step: Type.Integer({ minimum: 0, description: 'Step of the trainer.' }),
    path: Type.String({ description: 'Path on the cluster.' }),
    attempt: Count,
    at: Type.Integer({ description: 'Time of registration in ms since 1970.' }),
  },
  { ...strict, $id: 'Artifact' },
);
/** See {@link Artifact}. */
export type Artifact = Static<typeof Artifact>;

/** A page of artifacts, in the order of their registration. */
export const ArtifactPage = Type.Object(
  { items: Type.Array(Type.Unsafe<Artifact>({ $ref: 'Artifact#' })), next: Cursor },
  { ...strict, $id: 'ArtifactPage' },
);
/** See {@link ArtifactPage}. */
export type ArtifactPage = Static<typeof ArtifactPage>;

const batchFields = {
  attempt: Count,
  batch: Type.Integer({ minimum: 1, description: 'Number of the batch within the attempt, from 1.' }),
  step: Type.Integer({ minimum: 0, description: 'Step of the trainer.' }),
  rows: Count,
  digest: Type.String({ description: 'SHA-256 of the serialized batch, as hex.' }),
};

/** A recorded advantage batch, and what was found of it in short. */
export const BatchView = Type.Object(
  {
    ...batchFields,
    verification: nullable(
      Type.Object(
        {
          ok: Type.Boolean(),
          ...outcomes,
          findings: Type.Array(Type.String(), { description: 'Codes of the findings.' }),
        },
        { ...strict, description: 'Summary of the report; null until the batch is verified.' },
      ),
    ),
  },
  { ...strict, $id: 'Batch' },
);
/** See {@link BatchView}. */
export type BatchView = Static<typeof BatchView>;

/** A page of batches, by attempt and number. */
export const BatchPage = Type.Object(
  { items: Type.Array(Type.Unsafe<BatchView>({ $ref: 'Batch#' })), next: Cursor },
  { ...strict, $id: 'BatchPage' },
);
/** See {@link BatchPage}. */
export type BatchPage = Static<typeof BatchPage>;

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
    fingerprint: Type.String({
      description: 'Fingerprint of the estimator: every parameter that affects advantages.',
    }),
  },
  {
    additionalProperties: true,
    $id: 'BatchReport',
    description:
      'Report of a batch. Additional fields describe single rows; docs/explanation/verification.md explains them.',
  },
);

/** One batch with its report. */
export const BatchDetail = Type.Object(
  { ...batchFields, report: nullable(Type.Unsafe<unknown>({ $ref: 'BatchReport#' })) },
  { ...strict, $id: 'BatchDetail' },
);
/** See {@link BatchDetail}. */
export type BatchDetail = Static<typeof BatchDetail>;

const difference = {
  key: Type.String({ description: 'Key of the merged configuration.' }),
  from: nullable(Type.String({ description: "Value in the recipe's script; null if not passed." })),
  to: nullable(Type.String({ description: 'Value in the plan; null if not passed.' })),
};
/** A difference from the recipe's script that the spec asks for. */
export const PlanChange = Type.Object(difference, { ...strict, $id: 'PlanChange' });

/** A difference from the recipe's script that no spec asks for, and why it is made. */
export const PlanCorrection = Type.Object(
  { ...difference, reason: Type.String() },
  { ...strict, $id: 'PlanCorrection' },
);

/** What would fail, hang, be ignored or teach nothing, said from the spec alone. */
export const PlanCheck = Type.Object(
  {
    check: Type.String({ description: 'Stable name of the check.' }),
    severity: Type.Enum(['error', 'warning', 'note'], { type: 'string' }),
    field: Type.String({ description: 'JSON pointer into the spec.' }),
    message: Type.String(),
    remedy: Type.String(),
  },
  { ...strict, $id: 'PlanCheck' },
);

/** A dry run: what a spec means, and what would be run. */
export const PlanPreview = Type.Object(
  {
    resolved: SomeObject('The spec with all defaults filled in.'),
    defaults: Type.Array(Type.String(), {
      description: 'JSON pointers of the values that come from defaults.',
    }),
    fingerprint: nullable(
      Type.String({ description: 'Fingerprint of the estimator: every parameter that affects advantages.' }),
    ),
    plan: Type.Object(
      {
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
      },
      strict,
    ),
    commandLine: Type.String({ description: 'The exact command, quoted for a POSIX shell.' }),
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
  },
  { ...strict, $id: 'PlanPreview' },
);
