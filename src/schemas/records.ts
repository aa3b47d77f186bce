import { type Static, type TSchema, Type } from 'typebox';
import { SomeObject } from './spec-parts.ts';
import { strict } from './strict.ts';

const Count = Type.Integer({ minimum: 0 });
const Cursor = Type.Union([Type.String(), Type.Null()], {
  description: 'Pass it on as `cursor`; null: there is no more',
});

function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/** Something that an attempt left on the cluster. */
export const Artifact = Type.Object(
  {
    kind: Type.Literal('checkpoint'),
    step: Type.Integer({ minimum: 0, description: "The trainer's step" }),
    path: Type.String({ description: 'On the cluster' }),
    attempt: Count,
    at: Type.Integer({ description: 'When it was registered; ms since 1970' }),
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
  batch: Type.Integer({ minimum: 1, description: 'Its number within the attempt, from 1' }),
  step: Type.Integer({ minimum: 0, description: "The trainer's step" }),
  rows: Count,
  digest: Type.String({ description: 'SHA-256 of the serialized batch' }),
};

/** A recorded advantage batch, and what was found of it in short. */
export const BatchView = Type.Object(
  {
    ...batchFields,
    verification: nullable(
      Type.Object(
        {
          ok: Type.Boolean(),
          exact: Count,
          rounding: Count,
          wrong: Count,
          unverifiable: Count,
          findings: Type.Array(Type.String(), { description: 'Codes of its findings' }),
        },
        { ...strict, description: 'Null: the report is still to come' },
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
    exact: Count,
    rounding: Count,
    wrong: Count,
    unverifiable: Count,
    findings: Type.Array(
      Type.Object(
        {
          code: Type.String(),
          severity: Type.Enum(['error', 'warning'], { type: 'string' }),
          message: Type.String(),
          rows: Type.Array(Count, { description: 'The first rows that it concerns' }),
        },
        { additionalProperties: true },
      ),
    ),
    ok: Type.Boolean(),
    fingerprint: Type.String({ description: 'Everything of the estimator that changes the number' }),
  },
  {
    additionalProperties: true,
    $id: 'BatchReport',
    description:
      'Fields beyond these say more about single rows; docs/explanation/verification.md explains them',
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
  key: Type.String({ description: 'Of the merged configuration' }),
  from: nullable(Type.String({ description: "In the recipe's script; null: not passed" })),
  to: nullable(Type.String({ description: 'As it is run; null: not passed' })),
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
    check: Type.String({ description: 'Stable name' }),
    severity: Type.Enum(['error', 'warning', 'note'], { type: 'string' }),
    field: Type.String({ description: 'JSON pointer into the spec' }),
    message: Type.String(),
    remedy: Type.String(),
  },
  { ...strict, $id: 'PlanCheck' },
);

/** A dry run: what a spec means, and what would be run. */
export const PlanPreview = Type.Object(
  {
    resolved: SomeObject('The spec with its defaults'),
    defaults: Type.Array(Type.String(), {
      description: 'JSON pointers of the values that were not submitted',
    }),
    fingerprint: nullable(
      Type.String({ description: 'Everything of the estimator that changes the number' }),
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
            description: 'Variables that get their values on the cluster, by names of secrets there',
          }),
        ),
      },
      strict,
    ),
    commandLine: Type.String({ description: 'The exact command, quoted for a POSIX shell' }),
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
