import { EchelonError } from '../../../core/errors.ts';
import type { Caller, Scope } from '../../../core/scopes.ts';
import { Text } from '../../../schemas/answer-parts.ts';
import {
  type ApiKey,
  ApiKeyInput,
  ApiKeyRotation,
  type ApiKeyWithSecret,
  isLive,
  KEY_VERSION,
} from '../../../schemas/key.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import { isSignIn, type StoredKey } from '../../../store/access/api-keys.ts';
import { projectProblem } from '../../access/caller-projects.ts';
import { newKeyId, newKeyToken } from '../../access/callers.ts';
import { requireScope } from '../../server/auth.ts';
import { createCursors } from '../../server/cursor.ts';
import type { App, RouteDeps } from '../../server/deps.ts';
import { route } from '../../server/route.ts';
import { PageQuery } from '../common.ts';

const KeyParams = StrictObject({ id: Text('Id of the API key.') });

/** Keys that are valid at once at most. */
const MAX_KEYS = 1000;

const withSecret = {
  description: 'Created. Only this response contains the key.',
  content: { 'application/json': { schema: { $ref: 'ApiKeyWithSecret#' } } },
} as const;

/** GET and POST /v1/keys; GET and DELETE one; POST its rotation. */
export function addKeys(app: App, deps: RouteDeps): void {
  addList(app, deps);
  addRead(app, deps);
  addCreate(app, deps);
  addRotate(app, deps);
  addRevoke(app, deps);
}

/** Names what is shown: the digests stay in the store. */
function view(key: StoredKey & { lastUsedAt?: number | null }): ApiKey {
  return {
    version: KEY_VERSION,
    id: key.id,
    name: key.name,
    project: key.project,
    scopes: key.scopes,
    createdAt: key.createdAt,
    createdBy: key.createdBy,
    expiresAt: key.expiresAt,
    lastUsedAt: key.lastUsedAt ?? null,
    rotatedAt: key.rotatedAt,
    overlapUntil: key.overlapUntil,
    revokedAt: key.revokedAt,
  };
}

function addList(app: App, { store, settings }: RouteDeps): void {
  const cursors = createCursors(settings.cookieSecret);
  route(app, {
    at: 'GET /v1/keys',
    operationId: 'listKeys',
    scope: 'admin',
    summary: 'List API keys without their secrets, newest first',
    description: 'Revoked and expired keys are listed for another 90 days.',
    tag: 'access',
    querystring: StrictObject(PageQuery),
    answer: 'ApiKeyList',
    problems: ['invalid-cursor'],
    handler: async ({ query: { cursor, limit = 50 } }) => {
      const after = cursor === undefined ? '' : cursors.open('keys', cursor);
      // Keys never change their position, and new ones come first, so removing a key does not move the others.
      const rest = (await store.access.keys()).filter((key) => placeOf(key) > after);
      const items = rest.slice(0, limit);
      const last = rest.length > limit ? items.at(-1) : undefined;
      return { items: items.map(view), next: last ? cursors.seal('keys', placeOf(last)) : null };
    },
  });
}

/** Places rise in the order in which the store gives keys: the newest first. */
function placeOf({ createdAt, id }: Pick<StoredKey, 'createdAt' | 'id'>): string {
  return `${String(Number.MAX_SAFE_INTEGER - createdAt)} ${id}`;
}

function addRead(app: App, { store }: RouteDeps): void {
  route(app, {
    at: 'GET /v1/keys/:id',
    operationId: 'getKey',
    scope: 'admin',
    summary: 'Get an API key without its secret',
    description: 'Revoked and expired keys remain readable for 90 days.',
    tag: 'access',
    params: KeyParams,
    answer: 'ApiKey',
    problems: ['not-found'],
    handler: async ({ params: { id } }): Promise<ApiKey> => {
      const key = (await store.access.keys()).find((one) => one.id === id);
      if (key === undefined) throw new EchelonError('not-found', `There is no key ${id.slice(0, 40)}.`);
      return view(key);
    },
  });
}

function addCreate(app: App, { store, clock }: RouteDeps): void {
  route(app, {
    at: 'POST /v1/keys',
    operationId: 'createKey',
    scope: 'admin',
    idempotency: 'secret',
    summary: 'Create an API key',
    description:
      'Only this response contains the key; the server stores a digest. If the response is lost, revoke the key and create another.',
    tag: 'access',
    body: ApiKeyInput,
    answers: {
      201: {
        ...withSecret,
        headers: { Location: { type: 'string', description: 'Path of the API key.' } },
      },
    },
    problems: ['limit-reached'],
    handler: async (request, reply): Promise<ApiKeyWithSecret> => {
      const { project = null, scopes } = request.body;
      requireScopes(request.caller, scopes);
      if (project !== null) {
        const problem = await projectProblem(store, request.caller, project);
        if (problem) throw refused(problem.message, problem.field);
        if (scopes.includes('admin')) {
          throw refused('admin is not for a key of one project; leave one of them out', '/scopes');
        }
      }
      const now = clock.now();
      // Sign-ins have a limit of their own: those of others keep no administrator from making a key.
      const live = (await store.access.keys()).filter((key) => isLive(key, now) && !isSignIn(key));
      if (live.length >= MAX_KEYS) {
        throw new EchelonError('limit-reached', `There are ${MAX_KEYS} valid keys; revoke some first.`);
      }
      const id = newKeyId();
      const { token, digest } = newKeyToken(id);
      const key = newKey(request.body, { id, digest, createdAt: now, createdBy: request.caller.id });
      if (!(await store.access.createKey(key))) throw refused('is gone by now', '/project');
      reply.code(201).header('location', `/v1/keys/${id}`);
      return { key: view(key), token };
    },
  });
}

function newKey(
  { name, project = null, scopes, expiresInSeconds }: ApiKeyInput,
  made: Pick<StoredKey, 'id' | 'digest' | 'createdAt' | 'createdBy'>,
): StoredKey {
  return {
    version: KEY_VERSION,
    ...made,
    name,
    project,
    scopes,
    previousDigest: null,
    rotatedAt: null,
    overlapUntil: null,
    expiresAt: expiresInSeconds === undefined ? null : made.createdAt + expiresInSeconds * 1000,
    revokedAt: null,
  };
}

function refused(message: string, field: string): EchelonError {
  return new EchelonError('invalid-request', 'The API key cannot be created; `problems` names the field.', {
    problems: [{ field, message }],
  });
}

function addRotate(app: App, { store, clock }: RouteDeps): void {
  route(app, {
    at: 'POST /v1/keys/:id/rotate',
    operationId: 'rotateKey',
    scope: 'admin',
    idempotency: 'secret',
    summary: 'Rotate the secret of an API key',
    description:
      'Name, project, scopes and expiry do not change. The old secret is accepted for another `overlapSeconds`; then its event streams and sessions end. The request body is optional.',
    tag: 'access',
    params: KeyParams,
    optionalBody: ApiKeyRotation,
    answer: withSecret,
    problems: ['not-found'],
    handler: async (request): Promise<ApiKeyWithSecret> => {
      const { id } = request.params;
      const now = clock.now();
      const { overlapSeconds = 0 } = request.body ?? {};
      const overlapMs = overlapSeconds * 1000;
      const { token, digest } = newKeyToken(id);
      const key = await store.access.changeKey(id, (before) => {
        requireScopes(request.caller, before.scopes);
        return isLive(before, now)
          ? {
              ...before,
              digest,
              previousDigest: overlapMs > 0 ? before.digest : null,
              rotatedAt: now,
              overlapUntil: overlapMs > 0 ? now + overlapMs : null,
            }
          : undefined;
      });
      if (key === undefined) throw keyNotFound(id);
      return { key: view(key), token };
    },
  });
}

function addRevoke(app: App, { store, clock }: RouteDeps): void {
  route(app, {
    at: 'DELETE /v1/keys/:id',
    operationId: 'revokeKey',
    scope: 'admin',
    summary: 'Revoke an API key',
    description: 'The key is refused from this response on. Its open event streams end within 5 seconds.',
    tag: 'access',
    params: KeyParams,
    answer: 'ApiKey',
    problems: ['not-found'],
    handler: async (request): Promise<ApiKey> => {
      const { id } = request.params;
      const now = clock.now();
      const key = await store.access.changeKey(id, (before) => ({
        ...before,
        revokedAt: before.revokedAt ?? now,
      }));
      if (key === undefined) throw keyNotFound(id);
      return view(key);
    },
  });
}

/** A key hands on no more than its holder has. Throws EchelonError `forbidden`, which names the first missing scope. */
function requireScopes(caller: Caller, scopes: readonly Scope[]): void {
  for (const scope of scopes) requireScope(caller, scope);
}

function keyNotFound(id: string): EchelonError {
  return new EchelonError('not-found', `There is no valid key ${id.slice(0, 40)}.`);
}
