import type { StoreContext } from '../redis/context.ts';
import { guarded } from '../redis/errors.ts';
import type { AccessStore } from './contract.ts';

/** Sign-outs: a hash with the access version of the last sign-out by credential. */
export function createSignOuts({
  redis,
  keys,
  run,
}: StoreContext): Pick<AccessStore, 'signOut' | 'signOuts'> {
  return {
    async signOut(credential, lastsMs) {
      await run('sign-out', [credential, lastsMs]);
    },

    async signOuts() {
      const all = await guarded(redis.hgetall(`${keys.root}:signed-out`));
      return new Map(Object.entries(all).map(([credential, version]) => [credential, Number(version)]));
    },
  };
}
