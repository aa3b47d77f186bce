import { DEFAULT_PROJECT } from '../../schemas/project.ts';
import type { StoreContext } from '../redis/context.ts';
import { guarded, runAll } from '../redis/errors.ts';
import { inKnownLayout } from '../redis/layouts.ts';
import type { AccessStore, StoredKey } from './contract.ts';

/** A revoked or expired key is listed for this long. */
const LISTED_MS = 90 * 24 * 3600 * 1000;

type ApiKeys = Pick<AccessStore, 'version' | 'keys' | 'createKey' | 'changeKey' | 'keyUsed'>;

/** API keys: a hash of keys (JSON) by id. The times of last use are in a second hash, because they change often. */
export function createApiKeys({ redis, keys, run }: StoreContext): ApiKeys {
  const hash = `${keys.root}:api-keys`;
  const used = `${hash}:used`;
  const swap = async (id: string, from: string, to: string, project = ''): Promise<boolean> =>
    (await run('swap-access', ['api-keys', id, from, to, project])) === 1;

  async function deleteEnded(now: number): Promise<void> {
    for (const [id, text] of Object.entries(await guarded(redis.hgetall(hash)))) {
      const key = inKnownLayout('key', JSON.parse(text) as StoredKey);
      const ended = key.revokedAt ?? key.expiresAt;
      if (ended === null || ended > now - LISTED_MS) continue;
      if (await swap(id, text, '')) await guarded(redis.hdel(used, id));
    }
  }

  return {
    async version() {
      return Number((await guarded(redis.get(`${keys.root}:access-version`))) ?? 0);
    },
    async keys() {
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
    async createKey(key) {
      await deleteEnded(key.createdAt);
      // The id is random: if it exists, this call is a repetition.
      const project = key.project === DEFAULT_PROJECT ? '' : (key.project ?? '');
      const text = JSON.stringify(key);
      return (await swap(key.id, '', text, project)) || (await guarded(redis.hget(hash, key.id))) === text;
    },
    async changeKey(id, change) {
      for (;;) {
        const text = await guarded(redis.hget(hash, id));
        const after = text === null ? undefined : change(inKnownLayout('key', JSON.parse(text) as StoredKey));
        if (text === null || after === undefined) return undefined;
        if (await swap(id, text, JSON.stringify(after))) return after;
      }
    },
    async keyUsed(id, at) {
      await guarded(redis.hset(used, id, String(at)));
    },
  };
}
