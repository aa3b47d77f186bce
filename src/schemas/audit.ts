import { type Static, Type } from 'typebox';
import { strict } from './strict.ts';

const Nullable = Type.Union([Type.String(), Type.Null()]);

/** One entry of the audit log: who asked for what, and what came of it. Never a body, never a secret. */
export const AuditEntry = Type.Object(
  {
    id: Type.String({ description: 'Rises from entry to entry' }),
    at: Type.Integer({ description: "Milliseconds since 1970, by the store's clock" }),
    caller: Type.Union([Type.String(), Type.Null()], {
      description: 'Id of the key or token; null: no valid one came',
    }),
    name: Type.Union([Type.String(), Type.Null()], { description: "The caller's name at that time" }),
    project: Type.Union([Type.String(), Type.Null()], {
      description: 'The project that the caller is bound to',
    }),
    action: Type.String({ description: 'The operationId of the request, or its method and route' }),
    target: Type.Union([Type.String(), Type.Null()], {
      description: 'Id or name of what was acted on, or was made',
    }),
    status: Type.Integer({ description: 'HTTP status of the answer' }),
    outcome: Type.Enum(['done', 'refused', 'failed'], {
      type: 'string',
      description: 'failed: the answer was a fault of ours, and whether it took effect is not known',
    }),
    code: Type.Union([Type.String(), Type.Null()], {
      description: 'Code of the error, where one was answered',
    }),
    requestId: Type.String({ description: 'As in the log of the api' }),
    address: Type.String({ description: 'From where the request came' }),
    note: Nullable,
  },
  { ...strict, $id: 'AuditEntry' },
);
/** See {@link AuditEntry}. */
export type AuditEntry = Static<typeof AuditEntry>;

/** A page of the audit log, newest first. */
export const AuditPage = Type.Object(
  {
    items: Type.Array(Type.Unsafe<AuditEntry>({ $ref: 'AuditEntry#' })),
    next: Type.Union([Type.String(), Type.Null()], {
      description:
        'Pass it on as `cursor`; null: there is no more. A page may be short, or empty, and have a next one',
    }),
  },
  { ...strict, $id: 'AuditPage' },
);
/** See {@link AuditPage}. */
export type AuditPage = Static<typeof AuditPage>;
