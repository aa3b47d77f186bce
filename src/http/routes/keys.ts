import { Type } from 'typebox';
import { EchelonError } from '../../core/errors.ts';
import {
  type ApiKey,
  ApiKeyInput,
  ApiKeyRotation,
  type ApiKeyWithSecret,
  isLive,
  KEY_VERSION,
} from '../../schemas/key.ts';
import type { StoredKey } from '../../store/access-store.ts';
import { projectProblem } from '../caller-projects.ts';
import { newKeyId, newKeyToken } from '../callers.ts';
import type { App, RouteDeps } from '../deps.ts';
import { problems } from '../responses.ts';
import { strict } from './common.ts';

const KeyParams = Type.Object({ id: Type.String({ description: "The key's id" }) }, strict);

/** Keys that are valid at once at most. */
const MOST_KEYS = 1000;

const withSecret = {
  description: 'With its secret, which is shown this once',
  content: { 'application/json': { schema: { $ref: 'ApiKeyWithSecret#' } } },
} as const;

/** GET and POST /v1/keys; POST the rotation of one; DELETE one. */
export function addKeys(app: App, deps: RouteDeps): void {
  addList(app, deps);
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

function addList(app: App, { store }: RouteDeps): void {
  app.get(
    '/v1/keys',
    {
      config: { scope: 'admin' },
      schema: {
        operationId: 'listKeys',
        summary: 'API keys, the newest first, without their secrets',
        description: 'Keys that were revoked or have expired are shown for another 90 days.',
        tags: ['access'],
        response: { 200: { $ref: 'ApiKeyList#' }, ...problems() },
      },
    },
    async () => ({ items: (await store.keys()).map(view) }),
  );
}

function addCreate(app: App, { store, clock }: RouteDeps): void {
  app.post(
    '/v1/keys',
    {
      config: { scope: 'admin', idempotency: 'secret' },
      schema: {
        operationId: 'createKey',
        summary: 'Make an API key',
        description:
          'The key is in this answer and nowhere else: only its digest is stored. Where the answer is lost, revoke the key and make another.',
        tags: ['access'],
        body: ApiKeyInput,
        response: { 201: withSecret, ...problems() },
      },
    },
    async (request, reply): Promise<ApiKeyWithSecret> => {
      const { name, project = null, scopes, expiresInSeconds } = request.body;
      if (project !== null) {
        const problem = await projectProblem(store, request.caller, project);
        if (problem) throw refused(problem.message, problem.field);
        if (scopes.includes('admin')) {
          throw refused('admin is not for a key of one project; leave one of them out', '/scopes');
        }
      }
      const now = clock.now();
      const live = (await store.keys()).filter((key) => isLive(key, now));
      if (live.length >= MOST_KEYS) {
        throw new EchelonError('invalid-request', `There are ${MOST_KEYS} valid keys; revoke some first.`);
      }
      const id = newKeyId();
      const { token, digest } = newKeyToken(id);
      const key: StoredKey = {
        ...{ version: KEY_VERSION, id, name, project, scopes, digest, previousDigest: null },
        ...{ createdAt: now, createdBy: request.caller.id, rotatedAt: null, overlapUntil: null },
        expiresAt: expiresInSeconds === undefined ? null : now + expiresInSeconds * 1000,
        revokedAt: null,
      };
      if (!(await store.createKey(key))) throw refused('is gone by now', '/project');
      reply.code(201).header('location', `/v1/keys/${id}`);
      return { key: view(key), token };
    },
  );
}

function refused(message: string, field: string): EchelonError {
  return new EchelonError('invalid-request', 'The key cannot be made.', { problems: [{ field, message }] });
}

function addRotate(app: App, { store, clock }: RouteDeps): void {
  app.post(
    '/v1/keys/:id/rotate',
    {
      config: { scope: 'admin', idempotency: 'secret' },
      schema: {
        operationId: 'rotateKey',
        summary: 'Give an API key a new secret',
        description:
          'Name, project, scopes and expiry stay. The old secret is accepted for `overlapSeconds` more; streams and cookies that began with it end then.',
        tags: ['access'],
        params: KeyParams,
        body: ApiKeyRotation,
        response: { 200: withSecret, ...problems('not-found') },
      },
    },
    async (request): Promise<ApiKeyWithSecret> => {
      const { id } = request.params;
      const now = clock.now();
      const overlapMs = (request.body?.overlapSeconds ?? 0) * 1000;
      const { token, digest } = newKeyToken(id);
      const key = await store.changeKey(id, (before) =>
        isLive(before, now)
          ? {
              ...before,
              ...{ digest, previousDigest: overlapMs > 0 ? before.digest : null },
              ...{ rotatedAt: now, overlapUntil: overlapMs > 0 ? now + overlapMs : null },
            }
          : undefined,
      );
      if (key === undefined) throw keyNotFound(id);
      return { key: view(key), token };
    },
  );
}

function addRevoke(app: App, { store, clock }: RouteDeps): void {
  app.delete(
    '/v1/keys/:id',
    {
      config: { scope: 'admin' },
      schema: {
        operationId: 'revokeKey',
        summary: 'Revoke an API key',
        description: 'From this answer on it is refused; its open event streams end within 5 seconds.',
        tags: ['access'],
        params: KeyParams,
        response: { 200: { $ref: 'ApiKey#' }, ...problems('not-found') },
      },
    },
    async (request): Promise<ApiKey> => {
      const { id } = request.params;
      const now = clock.now();
      const key = await store.changeKey(id, (before) => ({
        ...before,
        revokedAt: before.revokedAt ?? now,
      }));
      if (key === undefined) throw keyNotFound(id);
      return view(key);
    },
  );
}

function keyNotFound(id: string): EchelonError {
  return new EchelonError('not-found', `There is no valid key ${id.slice(0, 40)}.`);
}
