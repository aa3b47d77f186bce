import type { Store } from '../store.ts';
import type { StoreContext } from './context.ts';
import { guarded } from './errors.ts';

/** See {@link Store}: which installation this Redis belongs to. */
export function createInstallation(context: StoreContext): Pick<Store, 'installation' | 'bind'> {
  const { redis, keys } = context;
  const installation = () => guarded(redis.get(keys.installation));
  return {
    installation,
    async bind(own) {
      await guarded(redis.set(keys.installation, own, 'NX'));
      const id = (await installation()) ?? own;
      context.installation = id;
      return id;
    },
  };
}
