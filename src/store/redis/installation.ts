import type { StoreContext } from './context.ts';
import { guarded } from './errors.ts';

/** Which installation this Redis belongs to. */
export function createInstallation(context: StoreContext) {
  const { redis, keys } = context;
  const installation = () => guarded(redis.get(keys.installation));
  return {
    /** Id of the installation that this Redis belongs to; null before its first start. */
    installation,
    /**
     * Binds this store to an installation, which the Redis gets if it has none. From then on, scripts run on no other Redis.
     * Returns the id that the Redis has.
     */
    async bind(own: string): Promise<string> {
      await guarded(redis.set(keys.installation, own, 'NX'));
      const id = (await installation()) ?? own;
      context.installation = id;
      return id;
    },
  };
}
