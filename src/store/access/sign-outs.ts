import type { StoreContext } from '../redis/context.ts';
import { guarded } from '../redis/errors.ts';

/** Sign-outs: a hash with the access version of the last sign-out by credential. */
export function createSignOuts({ redis, keys, run }: StoreContext) {
  return {
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
