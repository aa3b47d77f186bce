import { type Static, Type } from 'typebox';
import { SCOPES } from '../core/scopes.ts';
import { CountOf, nullable, Text } from './answer-parts.ts';
import { NamedObject } from './objects.ts';
import { count } from './optional-fields.ts';
import { Label, Name } from './spec-parts.ts';

/** Layout version of stored keys. */
export const KEY_VERSION = 1;

/** A rotated key's old secret is accepted for this long at most. */
const MAX_OVERLAP_SECONDS = 7 * 24 * 3600;

const Instant = CountOf('Time in ms since 1970.');
const MaybeInstant = nullable(Instant);
const Scopes = Type.Array(Type.Enum([...SCOPES], { type: 'string' }), {
  minItems: 1,
  maxItems: SCOPES.length,
  uniqueItems: true,
  description:
    '`read`: read everything. `submit`: submit, cancel, run again, delete. `custom-code`: specs that load code. `admin`: clusters, queue, projects, keys and the audit log; not for a key that is bound to a project.',
});
const Project = nullable(Name, {
  description: 'Project to which the key is bound; null means all projects.',
});

/** An API key without its secret. */
export const ApiKey = NamedObject('ApiKey', {
  version: Type.Literal(KEY_VERSION),
  id: Text('Id of the key, which is also the second part of its token: echelon_<id>_<secret>.'),
  name: Label,
  project: Project,
  scopes: Scopes,
  createdAt: Instant,
  createdBy: Text('Id of the caller.'),
  expiresAt: nullable(Instant, {
    description: 'Expiry in ms since 1970; null if the key does not expire.',
  }),
  lastUsedAt: nullable(Instant, {
    description: 'Last use, accurate to a minute; null if never used or unknown.',
  }),
  rotatedAt: MaybeInstant,
  overlapUntil: nullable(Instant, {
    description: 'Time until which the previous secret is also accepted; null if it is not.',
  }),
  revokedAt: MaybeInstant,
});
export type ApiKey = Static<typeof ApiKey>;

/** The body of POST /v1/keys. */
export const ApiKeyInput = NamedObject('ApiKeyInput', {
  name: Label,
  project: Type.Optional(Project),
  scopes: Scopes,
  expiresInSeconds: count(
    1,
    10 * 366 * 24 * 3600,
    'Seconds until the key expires. Default: it does not expire.',
  ),
});
export type ApiKeyInput = Static<typeof ApiKeyInput>;

/** The body of POST /v1/keys/:id/rotate. */
export const ApiKeyRotation = NamedObject('ApiKeyRotation', {
  overlapSeconds: count(
    0,
    MAX_OVERLAP_SECONDS,
    'Seconds for which the old secret remains accepted. Default: 0.',
  ),
});
export type ApiKeyRotation = Static<typeof ApiKeyRotation>;

/** A key with its secret, which is shown this once. */
export const ApiKeyWithSecret = NamedObject('ApiKeyWithSecret', {
  key: Type.Unsafe<ApiKey>({ $ref: 'ApiKey#' }),
  token: Text('The API key. Send it as `Authorization: Bearer TOKEN`. No later response contains it.'),
});
export type ApiKeyWithSecret = Static<typeof ApiKeyWithSecret>;

/** A page of keys, the newest first; those that were revoked or expired stand there for another 90 days. */
export const ApiKeyList = NamedObject('ApiKeyList', {
  items: Type.Array(Type.Unsafe<ApiKey>({ $ref: 'ApiKey#' })),
  next: nullable(Type.String(), {
    description: 'Send it as `cursor` to get the next page; null on the last page.',
  }),
});

/** Whether a key is accepted at `now`. */
export function isLive(
  { revokedAt, expiresAt }: Pick<ApiKey, 'revokedAt' | 'expiresAt'>,
  now: number,
): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now);
}
