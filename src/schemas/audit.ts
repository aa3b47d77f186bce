import { type Static, Type } from 'typebox';
import { nullable, Text } from './answer-parts.ts';
import { NamedObject } from './objects.ts';

const Nullable = nullable(Type.String());

/** One entry of the audit log: who asked for what, and the outcome. Never a body, never a secret. */
export const AuditEntry = NamedObject('AuditEntry', {
  id: Text('Id of the entry; later entries have higher ids.'),
  at: Type.Integer({ description: 'Time of the entry in ms since 1970, by the clock of Redis.' }),
  caller: nullable(Type.String(), {
    description: 'Id of the key or token; null if the request had no valid one.',
  }),
  name: nullable(Type.String(), { description: 'Name of the caller at that time.' }),
  project: nullable(Type.String(), {
    description: 'Project to which the caller is bound; null if none.',
  }),
  action: Text('operationId of the request, or its method and route.'),
  target: nullable(Type.String(), {
    description: 'Id or name of the resource that the request read, changed or created.',
  }),
  status: Type.Integer({ description: 'HTTP status of the response.' }),
  outcome: Type.Enum(['done', 'refused', 'failed'], {
    type: 'string',
    description:
      '`done`, `refused` or `failed`. After `failed` (status 5xx) it is unknown whether the request took effect.',
  }),
  code: nullable(Type.String(), {
    description: 'Error code; null if the request succeeded.',
  }),
  requestId: Text('Request id, as in the log of the api process.'),
  address: Text('Network address of the client.'),
  note: Nullable,
});
export type AuditEntry = Static<typeof AuditEntry>;

/** A page of the audit log, newest first. */
export const AuditPage = NamedObject('AuditPage', {
  items: Type.Array(Type.Unsafe<AuditEntry>({ $ref: 'AuditEntry#' })),
  next: nullable(Type.String(), {
    description:
      'Send it as `cursor` to get the next page; null on the last page. A page can be short or empty and still have a next one.',
  }),
});
export type AuditPage = Static<typeof AuditPage>;
