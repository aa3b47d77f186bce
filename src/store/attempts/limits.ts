import type { StoreContext } from '../redis/context.ts';
import type { LimitsStore } from './limits-contract.ts';

/** See {@link LimitsStore}. */
export function createLimits({ run }: StoreContext): LimitsStore {
  return {
    async failOverdue(limit) {
      const [, ended] = (await run('fail-overdue', [limit])) as [number, number];
      return ended;
    },
  };
}
