import type { ApiKey } from '../../schemas/key.ts';
import { DEFAULT_PROJECT } from '../../schemas/project.ts';
import type { StoreContext } from '../context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import { inKnownLayout } from '../redis/layouts.ts';

/** A stored key: SHA-256 (hex) of the key, and of the previous key after a rotation. */
export interface StoredKey extends Omit<ApiKey, 'lastUsedAt'> {
  digest: string;
  previousDigest: string | null;
}

/** A revoked or expired key is listed for this long; that of a sign-in for a day, since each makes another. */
const LISTED_MS = 90 * 24 * 3600 * 1000;
const LISTED_SIGN_IN_MS = 24 * 3600 * 1000;

/** Live sign-ins of a person; a further one ends the oldest. */
export const MAX_SIGN_INS = 20;

/** Whether a sign-in made the key, not a person with the scope `admin`. */
export function isSignIn({ createdBy }: Pick<StoredKey, 'createdBy'>): boolean {
  return createdBy.startsWith('oidc:');
}

/** API keys: a hash of keys (JSON) by id. The times of last use are in a second hash, because they change often. */
export function createApiKeys(context: StoreContext) {
  const { redis, keys, run } = context;
  const hash = `${keys.root}:api-keys`;
  const used = `${hash}:used`;
  const swap = async (id: string, from: string, to: string, project = ''): Promise<boolean> =>
    (await run('swap-access', ['api-keys', id, from, to, project])) === 1;

  return {
    /** Grows with every change of a key or a project, and with every sign-out: a microsecond of the server's clock. */
    async version(): Promise<number> {
      return Number((await guarded(redis.get(`${keys.root}:access-version`))) ?? 0);
    },
    async keys(): Promise<(StoredKey & Pick<ApiKey, 'lastUsedAt'>)[]> {
      const [all, times] = (await runAll(redis.pipeline().hgetall(hash).hgetall(used))) as [
        Record<string, string>,
        Record<string, string>,
      ];
      return Object.entries(all)
        .map(([id, text]) => ({
          ...inKnownLayout('key', JSON.parse(text) as StoredKey),
          lastUsedAt: times[id] === undefined ? null : Number(times[id]),
        }))
        .sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1));
    },
    /**
     * Also deletes keys that ended more than 90 days before, and the oldest sign-ins of a person with too many. False if its
     * project does not exist.
     */
    async createKey(key: StoredKey): Promise<boolean> {
      await deleteEnded(context, swap, key);
      // The id is random: if it exists, this call is a repetition.
      const project = key.project === DEFAULT_PROJECT ? '' : (key.project ?? '');
      const text = JSON.stringify(key);
      return (await swap(key.id, '', text, project)) || (await guarded(redis.hget(hash, key.id))) === text;
    },
    /** Applies `change` to the current key of that id; undefined if there is none, or if `change` returns undefined. */
    async changeKey(
      id: string,
      change: (key: StoredKey) => StoredKey | undefined,
    ): Promise<StoredKey | undefined> {
      for (;;) {
        const text = await guarded(redis.hget(hash, id));
        const after = text === null ? undefined : change(inKnownLayout('key', JSON.parse(text) as StoredKey));
        if (text === null || after === undefined) return undefined;
        if (await swap(id, text, JSON.stringify(after))) return after;
      }
    },
    /** Records that a key was used. */
    async keyUsed(id: string, at: number): Promise<void> {
      await guarded(redis.hset(used, id, String(at)));
    },
    /** Ends the sign-ins of a credential so far; a sign-in expires after `lastsMs`. */
    async signOut(credential: string, lastsMs: number): Promise<void> {
      await run('sign-out', [credential, lastsMs]);
    },
    /** The version that the last sign-out of each credential made. */
    async signOuts(): Promise<ReadonlyMap<string, number>> {
      const all = await guarded(redis.hgetall(`${keys.root}:signed-out`));
      return new Map(Object.entries(all).map(([credential, version]) => [credential, Number(version)]));
    },
  };
}

async function deleteEnded(
  { redis, keys }: StoreContext,
  swap: (id: string, from: string, to: string) => Promise<boolean>,
  made: StoredKey,
): Promise<void> {
  const hash = `${keys.root}:api-keys`;
  const all = Object.entries(await guarded(redis.hgetall(hash))).map(([id, text]) => ({
    id,
    text,
    key: inKnownLayout('key', JSON.parse(text) as StoredKey),
  }));
  const signIns = isSignIn(made) ? all.filter(({ key }) => key.createdBy === made.createdBy) : [];
  const surplus = signIns
    .sort((a, b) => b.key.createdAt - a.key.createdAt)
    .slice(MAX_SIGN_INS - 1)
    .filter(({ id }) => id !== made.id);
  const ended = all.filter(({ key }) => {
    const at = key.revokedAt ?? key.expiresAt;
    return at !== null && at <= made.createdAt - (isSignIn(key) ? LISTED_SIGN_IN_MS : LISTED_MS);
  });
  for (const { id, text } of new Set([...surplus, ...ended]))
    if (await swap(id, text, '')) await guarded(redis.hdel(`${hash}:used`, id));
}
