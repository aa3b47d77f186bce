import { newKeyId, newKeyToken } from '../../src/http/access/callers.ts';
import { newProject, type ProjectInput } from '../../src/schemas/project.ts';
import type { StoredKey } from '../../src/store/access/api-keys.ts';
import type { Store } from '../../src/store/store.ts';

/** A key as it is stored, with values that do not matter. */
export function storedKey(changes: Partial<StoredKey> = {}): StoredKey {
  return {
    version: 1,
    id: '0123456789abcdef',
    name: 'a key',
    project: null,
    scopes: ['read'],
    createdAt: 1,
    createdBy: 'another-key',
    expiresAt: null,
    rotatedAt: null,
    overlapUntil: null,
    revokedAt: null,
    digest: 'd'.repeat(64),
    previousDigest: null,
    ...changes,
  };
}

/** Makes projects of these names. */
export async function makeProjects(store: Store, ...names: ProjectInput['name'][]): Promise<void> {
  for (const name of names) await store.projects.create(newProject({ name }, 1));
}

/** Makes an API key; its token is what a caller sends. */
export async function makeKey(
  store: Store,
  changes: Partial<StoredKey> = {},
): Promise<{ id: string; token: string }> {
  const id = newKeyId();
  const { token, digest } = newKeyToken(id);
  if (!(await store.access.createKey(storedKey({ id, digest, ...changes }))))
    throw new Error('its project is not there');
  return { id, token };
}
